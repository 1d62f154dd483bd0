"""Hosts of scripts that change without notice, so that no page can pin them by integrity.

Their vendors say so, or a tag manager builds one for each customer.
"""

from foundation.addresses.hosts import covers

_HOSTS = (
    # Tag managers, statistics and tests
    *("www.googletagmanager.com", "www.google-analytics.com", "ssl.google-analytics.com"),
    *("assets.adobedtm.com", "tags.tiqcdn.com", "cdn.matomo.cloud", "cdn.segment.com"),
    *("containers.piwik.pro", "nexus.ensighten.com", "cdn.tagcommander.com", "static.cloudflareinsights.com"),
    *("static.hotjar.com", "www.clarity.ms", "plausible.io", "cdn.usefathom.com"),
    *("scripts.simpleanalyticscdn.com", "cdn.mxpnl.com", "cdn.heapanalytics.com"),
    *("cdn.optimizely.com", "dev.visualwebsiteoptimizer.com", "cdn.amplitude.com"),
    *("js-agent.newrelic.com", "mc.yandex.ru", "analytics.tiktok.com", "static.addtoany.com"),
    *("s.pinimg.com", "snap.licdn.com", "bat.bing.com", "connect.facebook.net"),
    *("static.ads-twitter.com", "platform.twitter.com", "sc-static.net", "px.ads.linkedin.com"),
    # Advertisements
    *("pagead2.googlesyndication.com", "securepubads.g.doubleclick.net", "www.googleadservices.com"),
    *("static.criteo.net", "cdn.taboola.com", "widgets.outbrain.com"),
    # Consent
    *("cdn.cookielaw.org", "consent.cookiebot.com", "cdn-cookieyes.com", "app.usercentrics.eu"),
    *("sdk.privacy-center.org", "web.cmp.usercentrics.eu", "cdn.iubenda.com", "cs.iubenda.com"),
    "cdn.consentmanager.net",
    # Payment, maps, sign-in, tests for people, chats
    *("js.stripe.com", "www.paypal.com", "www.paypalobjects.com", "js.braintreegateway.com"),
    *("x.klarnacdn.net", "js.squareup.com", "web.squarecdn.com", "pay.google.com"),
    *("maps.googleapis.com", "maps.google.com", "accounts.google.com", "apis.google.com"),
    *("appleid.cdn-apple.com", "www.google.com", "www.recaptcha.net", "www.gstatic.com"),
    *("js.hcaptcha.com", "hcaptcha.com", "challenges.cloudflare.com", "www.youtube.com"),
    *("player.vimeo.com", "js.hs-scripts.com", "js.hsforms.net", "widget.intercom.io"),
    *("static.zdassets.com", "embed.tawk.to", "widget.trustpilot.com", "use.typekit.net"),
    *("kit.fontawesome.com", "widgets.trustedshops.com"),
)


def changes_unannounced(host: str) -> bool:
    """Return whether scripts of a host cannot have integrity."""
    return any(covers(known, host) for known in _HOSTS)
