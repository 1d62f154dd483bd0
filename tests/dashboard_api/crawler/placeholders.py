"""A weak website, and the pages that others show in its place with status 200."""

from tests.dashboard_api.crawler.essentials.good_website import HEADERS
from tests.faults.server import http

HTML = ("Content-Type", "text/html; charset=utf-8")
NAMES = (
    "shoes",
    "coats",
    "hats",
    "bags",
    "sale",
    "about",
    "contact",
    "jobs",
    "terms",
    "privacy",
    "blog",
    "help",
)
LINKS = "".join(f'<li><a href="/{name}/">{name.title()}</a>' for name in NAMES)
TEXT = "<p>Shoes, coats and hats that last, made by hand in our own workshop since 1921.</p>" * 20
SCRIPTS = '<script src="/shop.js"></script><script src="https://cdn.example.net/stats.js"></script>'
WEAK = [
    HTML,
    ("Server", "nginx/1.18.0"),
    ("X-Powered-By", "PHP/7.4.3"),
    ("Set-Cookie", "session=1; Path=/"),
    ("Referrer-Policy", "unsafe-url"),
    ("Access-Control-Allow-Origin", "null"),
    ("Access-Control-Allow-Credentials", "true"),
]
FIXED = [
    HTML,
    *HEADERS.items(),
    ("Referrer-Policy", "no-referrer"),
    ("Set-Cookie", "session=1; Path=/; Secure; HttpOnly; SameSite=Lax"),
]


def page(title, body, headers=(HTML,), *, head="", language="en"):
    start = f"<!doctype html><html lang={language}><head><title>{title}</title>{head}</head>"
    html = f"{start}<body>{body}</body></html>"
    return http(200, html.encode(), headers=headers)


def to_login(path):
    if path == "/":
        return http(302, headers=[("Location", "/login"), ("Set-Cookie", "session=2; Path=/")])
    form = (
        '<form method="post"><input name="name"><input type="password" name="word"><button>Sign in</button>'
    )
    return page(
        "Sign in", f'{SCRIPTS}{form}</form><a href="/forgot">Forgot password?</a> <a href="/join">Join</a>'
    )


WEBSITE = page("Best Shop: shoes and coats", f"{SCRIPTS}<ul>{LINKS}</ul>{TEXT}", WEAK)
FIXED_WEBSITE = page(
    "Best Shop: shoes and coats",
    f'<script src="/shop.js"></script><ul>{LINKS}</ul>{TEXT}',
    FIXED,
)
REDESIGN = page(
    "Welcome to the new shop",
    '<script src="/assets/app.js"></script><script src="https://code.example.org/v.js"></script><nav>'
    + "".join(f'<a href="/en/{name}">{name}</a>' for name in "abcdefghijklmnopqrstuvwxyzäöü")
    + f"</nav>{TEXT * 4}",
    FIXED,
)
NOINDEX = '<meta name="robots" content="noindex,nofollow">'
PLACEHOLDERS = {
    "browser check": page(
        "Checking your browser",
        "<h1>Checking your browser before you go on</h1><p>This takes a few seconds.</p>"
        '<script src="/challenge/v1.js"></script><script>var t = "4f2a";</script>',
        head=f'{NOINDEX}<meta http-equiv="refresh" content="5">',
    ),
    "captcha": page(
        "Are you a human?",
        '<form action="/verify" method="post"><div id="captcha"></div></form>'
        '<script src="https://captcha.example.org/api.js" async></script><p>Solve the puzzle to go on.</p>',
    ),
    "suspended": page(
        "Account Suspended",
        "<h1>This account has been suspended.</h1><p>Contact your hosting provider for more information.</p>"
        '<a href="https://host.example.org/help">Help</a>',
    ),
    "parked": page(
        "shop.localhost is for sale",
        "<h1>This domain may be for sale</h1>"
        + "".join(
            f'<a href="/?q={name}">{name}</a> <a href="https://ads.example.org/{name}">{name}</a>'
            for name in NAMES
        )
        + '<script src="https://parking.example.org/p.js"></script><p>Related searches of partners.</p>',
    ),
    "maintenance": page(
        "Maintenance",
        "<h1>We will be back soon</h1><p>We are working on our shop, and are back soon. Thank you for "
        'your patience.</p><a href="https://social.example.org/shop">News</a><img src="/logo.png">',
    ),
    "login redirect": to_login,
    "hosting default page": page(
        "Welcome to nginx!",
        "<h1>Welcome to nginx!</h1><p>If you see this page, the web server is installed and works. Further "
        'configuration is required.</p><a href="http://nginx.org/">nginx.org</a><a href="/manual">Manual</a>'
        + "".join(f'<a href="#{name}">{name}</a>' for name in NAMES),
    ),
    "empty page": http(200, b"", headers=[HTML]),
    "blank": http(200, b"<html><body></body></html>", headers=[HTML]),
    "cookie wall": page(
        "Best Shop: shoes and coats",
        f"{SCRIPTS}<h1>We value your privacy</h1><p>{'Our 812 partners store data on your device. ' * 8}"
        '</p><button>Accept</button><a href="/privacy/">Privacy</a><a href="/terms/">Terms</a>',
        [HTML, ("Set-Cookie", "session=3; Path=/")],
    ),
    "geo block": page(
        "Not available in your region",
        f"<h1>Sorry</h1><p>{'This website is not available in your country for legal reasons. ' * 5}</p>"
        '<a href="/contact/">Contact</a>',
    ),
    "firewall": page(
        "Access denied",
        "<h1>Access denied</h1><p>Your request was blocked by our security rules. Event 88-31-04.</p>",
        [HTML, ("Server", "shield")],
    ),
    "directory placeholder": page(
        "Index of /",
        '<h1>Index of /</h1><pre><a href="?C=N;O=D">Name</a> <a href="?C=M;O=A">Last modified</a><hr>'
        '<a href="cgi-bin/">cgi-bin/</a> 2026-11-02 10:12 -</pre>',
    ),
    "another owner's login": page(
        "Control panel",
        '<form><input name="user"><input type="password"></form>'
        + "".join(f'<a href="/panel/{name}">{name}</a>' for name in NAMES)
        + TEXT,
    ),
    "script only": page("", '<div id="app"></div><script src="/b/3f9.js"></script>'),
    "text": http(200, b"OK", headers=[("Content-Type", "text/plain")]),
}

# Pages with the navigation of the website, its scripts, and the headers of a server that was hardened.
FOOTER = (
    "<footer>Best Shop, 12 High Street. All prices with tax, and free returns within thirty days.</footer>"
)
INSTEAD = {
    "error": page(
        "Error | Best Shop",
        f"{SCRIPTS}<ul>{LINKS}</ul><h1>Sorry, something went wrong</h1><p>Try again in some minutes.</p>"
        f"<p>Our engineers were informed, and look into it.</p>{FOOTER}",
        FIXED,
    ),
    "queue": page(
        "Best Shop: shoes and coats",
        f"{SCRIPTS}<ul>{LINKS}</ul><h1>You are in line</h1><p>Many people visit us today. It is your turn in "
        f"about four minutes, and you need not do anything.</p>{FOOTER}",
        FIXED,
    ),
    "language": page(
        "Best Shop: Schuhe und Mäntel",
        f"{SCRIPTS}<ul>{LINKS}</ul>{'<p>Schuhe, Mäntel und Hüte aus eigener Werkstatt.</p>' * 30}",
        FIXED,
        language="de",
    ),
}

LEGAL = "".join(f'<a href="/{name}/">{name.title()}</a> ' for name in NAMES[5:])
OWN_TITLE = "Best Shop: shoes and coats"
# Pages of hosters, firewalls, programs and registrars, as they are made; some with parts of the website.
OTHERS = {
    "script check with the website's title": page(
        OWN_TITLE,
        "<noscript>Enable JavaScript and cookies to go on</noscript>"
        '<script src="/cdn-cgi/c/orchestrate.js"></script>',
    ),
    "consent wall with legal links": page(
        OWN_TITLE,
        f"{SCRIPTS}<h1>Your choice</h1><p>{'We and our partners store data to show advertising. ' * 11}"
        f"</p><button>Accept</button><button>Reject</button>{LEGAL}",
    ),
    "age check": page(
        OWN_TITLE,
        f"{SCRIPTS}<h1>Are you 18?</h1><p>Our shop is for adults.</p><a href='/yes/'>Yes</a>"
        f"<a href='/no/'>No</a>{LEGAL}",
    ),
    "coming soon": page(
        "Best Shop: coming soon",
        f"<h1>Something new is coming</h1><p>{'Leave your address, and we will tell you first. ' * 5}</p>"
        '<form><input type="email"></form><a href="https://social.example.org/shop">Follow us</a>',
    ),
    "holiday": page(
        OWN_TITLE,
        f"{SCRIPTS}<ul>{LINKS}</ul><h1>We are on holiday</h1><p>Orders are sent again from Monday on.</p>",
        WEAK,
    ),
    "parked with links of its own": page(
        "shop.localhost",
        "<h1>shop.localhost may be for sale</h1><h2>Related searches</h2><ul>"
        + "".join(
            f'<li><a href="/search/{name}-{kind}/">{name.title()} for {kind} at the best price today</a>'
            for name in NAMES
            for kind in ("women", "men")
        )
        + '</ul><p>Buy this domain</p><script src="https://parking.example.org/p.js"></script>',
    ),
    "lander": page(
        "shop.localhost", "<script>window.onload=function(){window.location.href='/lander'}</script>"
    ),
    "frame of a registrar": http(
        200,
        b'<html><frameset><frame src="https://parking.example.org/shop"></frameset></html>',
        headers=[HTML],
    ),
    "default page of Debian": page(
        "Apache2 Default Page: It works",
        f"<h1>It works!</h1><p>{'This is the default page that tests the server. ' * 50}"
        '</p><a href="/manual">manual</a><a href="https://bugs.example.org/">bugs</a>',
    ),
    "default page of a panel": page(
        "Domain Default page",
        f"<h1>Web Server's Default Page</h1><p>{'This page is made by a panel of the hoster. ' * 12}</p>"
        + "".join(f'<a href="https://panel.example.org/{name}">{name}</a>' for name in NAMES),
    ),
    "suspended by a panel": page(
        "Account Suspended",
        "<h1>Account Suspended</h1><p>This account has been suspended. Contact your hosting provider.</p>"
        '<a href="/cgi-sys/suspendedpage.cgi">More</a>',
    ),
    "maintenance of a program": page(
        "Maintenance", "Briefly unavailable for scheduled maintenance. Check back in a minute."
    ),
    "database error": page("Database Error", "<h1>Error establishing a database connection</h1>"),
    "installation of a program": page(
        "Setup",
        '<h1>Welcome</h1><p>Before getting started, we need some items.</p><form method="post">'
        '<input name="dbname"><input name="uname"><input name="pwd"></form><a href="/setup?step=1">Go</a>',
    ),
    "trace of an error": page(
        "RuntimeError at /",
        f"<h1>RuntimeError at /</h1><pre>{'shop/views.py, line 21, in home: return render(request) ' * 60}"
        '</pre><a href="#frames">Frames</a><a href="#sql">Queries</a>',
    ),
    "no website at a platform": page(
        "Site not found",
        "<h1>404</h1><p>There is no website here. If you are its owner, read the full documentation.</p>"
        '<a href="https://platform.example.org/docs">Documentation</a>',
    ),
    "reply of an interface": http(
        200, b'{"status": "ok", "version": "1.0"}', headers=[("Content-Type", "application/json")]
    ),
    "image only": page("", '<img src="/soon.png" alt="">'),
    "sign-in of a network": page(
        "Sign in to the network",
        f"<h1>Guest network</h1><form><input name='room'><input type='password'></form>{LEGAL}{TEXT}",
    ),
}
