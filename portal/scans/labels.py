"""Labels and explanations of scans for the owner of a website."""

from django.utils.translation import gettext_lazy as _

PROFILES = {"quick": _("Quick scan"), "standard": _("Standard scan"), "deep": _("Deep scan")}
MONTHLY_DEEP = _("Deep scan (monthly only)")
MEANINGS = {
    "quick": _("The most important settings, in under a minute."),
    "standard": _("More scanners, in a few minutes."),
    "deep": _(
        "For up to an hour, scanners attack the website like an intruder: they send forms and wrong input. "
        "By hand it begins at once; by schedule only in the hours that you choose."
    ),
}
FREQUENCIES = {
    "off": _("Never automatically"),
    "daily": _("Every day"),
    "weekly": _("Every week"),
    "monthly": _("Every month"),
}
TRIGGERS = {
    "first": _("first scan"),
    "hand": _("by hand"),
    "retest": _("test of a fix"),
    "schedule": _("by schedule"),
}
ENGINES = {
    "waiting": _("waiting"),
    "running": _("running"),
    "ok": _("done"),
    "blocked": _("blocked"),
    "failed": _("failed"),
    "timed_out": _("took too long"),
    "cancelled": _("cancelled"),
    "skipped": _("not run"),
}
WORK = {  # what a scanner looks at, by its short name
    "essentials": _("TLS, headers, cookies and the home page"),
    "dns": _("mail, DNSSEC, CAA and names that lead nowhere"),
    "scripts": _("libraries with known holes, and scripts of others"),
    "exposed-files": _("some 50 paths that leak"),
    "sslyze": _("TLS versions, ciphers and certificates"),
    "testssl": _("TLS in depth"),
    "wapiti-passive": _("follows links, and looks at headers and cookies"),
    "wapiti-attacks": _("sends wrong input to forms and addresses"),
}
SKIPPED = {  # by the reason
    "engine_missing": _("not installed"),
    "no_time_left": _("no time left"),
}
ENDS = {  # of a scan that has no outcome
    "failed": _("Failed"),
    "cancelled": _("Cancelled"),
}
ELSEWHERE = {"ok": _("Complete"), "partial": _("Partly complete"), "failed": _("Failed")}
OUTCOMES = {
    "complete": _("Complete"),
    "partial": _("Partly complete"),
    "blocked": _("Blocked by the website"),
    "different": _("The page looks different"),
    "gone": _("The problem is gone"),
    "still_there": _("The problem is still there"),
    "inconclusive": _("No clear result"),
}
TONES = {"complete": "ok", "gone": "ok", "partial": "partial", "inconclusive": "partial"}
REASONS = {
    "no_address": _("The name has no address. Check its A and AAAA records."),
    "alias_missing": _(
        "The name is a CNAME of a name that does not exist, which anyone may be able to register. Remove the "
        "CNAME record, or set up the name that it points to."
    ),
    "servers_silent": _("The name servers of the domain do not answer. Scan again later."),
    "private_address": _(
        "The name leads to a private address, which we do not scan. Check all of its A and AAAA records."
    ),
    "connect_failed": _(
        "We could not connect. Check that the website answers from the internet, on port 443 or 80."
    ),
    "tls_invalid": _(
        "No encrypted connection was possible. Check the certificate and the settings of https."
    ),
    "timed_out": _("The website did not answer in time. Scan again later."),
    "broken_response": _("The website closed the connection early. Scan again later."),
    "blocked": _(
        "A firewall of the website blocked the scan, so nothing counts as fixed. Allow our addresses and "
        "our user agent, which are below, and scan again."
    ),
    "page_changed": _(
        "The page looks different from the one that earlier scans saw, as behind a protection or on a "
        "placeholder. So this scan neither adds nor fixes findings, except of the domain."
    ),
    "first_look": _(
        "Earlier scans did not record what the page looks like. Findings that this scan does not see stay "
        "open until the next one."
    ),
    "redirected_away": _(
        "The website redirects to another domain or port. Let it answer without a redirect, or add the "
        "website that it leads to."
    ),
    "redirect_loop": _(
        "The website redirects in a loop, or more than five times. Correct its redirects for visitors "
        "without cookies."
    ),
    "no_page": _(
        "The home page answers with an error, such as 404, or without a page. Its headers and content were "
        "not checked, so nothing about them counts as fixed."
    ),
    "page_unknown": _(
        "The certificate is for another name, and http shows no page of this website, so we do not know "
        "which page belongs to it, and checked none. Get a certificate for this name, or let the website "
        "answer at http."
    ),
    "server_error": _(
        "The website answered with an error of its server, so some checks failed. Scan again when it works."
    ),
    "not_read_to_the_end": _(
        "The home page or security.txt could not be read to its end, so some checks failed. Send them "
        "uncompressed, and with less than 1 MB."
    ),
    "scripts_unread": _(
        "Some scripts of the home page could not be read, so findings about scripts stay open. Check that "
        "their addresses answer."
    ),
    "ownership_lapsed": _("The proof of ownership is missing. Prove again that the website is yours."),
    "opted_out": _(
        "This website, or one that it redirects to, opted out of scans. Contact support to change that."
    ),
    "plan_ended": _("Your plan no longer allowed the scan when it was due."),
    "consent_missing": _(
        "The consent to deep scans had ended before the scan could begin. Please agree to deep scans again."
    ),
    "robots_txt": _(
        "The robots.txt of the website forbids us its home page, so scanners that follow links did not run. "
        "Allow ThreatDashboard there, and scan again."
    ),
    "engine_missing": _("A scanner that this needs is not installed on our side. Contact support."),
    "engine_timeout": _("A scanner took too long and was ended. Scan again when the website is less busy."),
    "stopped_early": _(
        "A scanner ended before it had tried everything, so problems that it did not report stay open. To "
        "give it less to check, exclude parts for ThreatDashboard in robots.txt, such as a calendar."
    ),
    "too_many_requests": _(
        "A scanner sent more requests than this scan allows and was ended, so its results do not count. To "
        "give it less to check, exclude parts for ThreatDashboard in robots.txt, such as a calendar."
    ),
    "too_much_traffic": _(
        "A scanner moved more data than this scan allows and was ended, so its results do not count. To move "
        "less, exclude parts for ThreatDashboard in robots.txt, such as large downloads."
    ),
    "no_time_left": _("There was no time left for all scanners."),
    "not_all_checked": _(
        "Some checks were not possible, so their problems stay open. Scan again; contact support if this is "
        "repeated."
    ),
    "cancelled": "",  # says no more than the state
    "worker_lost": _("The scan was interrupted on our side and does not count. Scan again."),
}
BLOCKED_BY = _(
    "It looks as if %(product)s blocked the scan, so nothing counts as fixed. Allow our addresses or our "
    "user agent, which are below, and scan again."
)
BLOCKED_BY_UNKNOWN = _("We cannot tell which protection it was.")
WHERE_TO_ALLOW = {  # by the key of the protection
    "akamai": _(
        "In Akamai Control Center: a network list that the IP/Geo firewall of the security configuration "
        "allows."
    ),
    "aws_waf": _(
        "In the AWS WAF console: a rule with an IP set and the action Allow, before the other rules of the "
        "web ACL."
    ),
    "cloudflare": _("In the Cloudflare dashboard, under Security: an IP access rule with the action Allow."),
    "datadome": _("In the DataDome dashboard: a custom rule with the response Allow."),
    "fastly": _("In the Fastly Next-Gen WAF: a request rule with the action Allow."),
    "imperva": _("In the Imperva console: the IP addresses that the website's security settings allow."),
    "modsecurity": _(
        "In the configuration of the web server: a rule that turns ModSecurity off for our addresses. Your "
        "hosting provider can add it."
    ),
    "sucuri": _("In the Sucuri firewall, under Access Control: the allowed IP addresses."),
    "vercel": _("In the Vercel project, under Firewall: a system bypass rule for our addresses."),
    "wordfence": _(
        "In WordPress, under Wordfence, All Firewall Options: the allowlisted IP addresses that bypass all "
        "rules."
    ),
}
OTHER_REASON = _("A scanner failed on our side. Scan again, and contact support if it fails again.")
REFUSALS = {
    "scans_not_included": _("Your plan does not include these scans."),
    "opted_out": _("This website opted out of scans. Contact support to change that."),
    "consent_missing": _("No owner of the organization has agreed to deep scans of this website yet."),
    "not_scannable": _("This website cannot be scanned now. Check the proof of ownership."),
    "scan_cooldown": _("This website was scanned a short while ago."),
    "crawler_stopped": _("No website is scanned for now. Try again later."),
}
NOT_SCANNABLE = {  # by the reason of a refusal
    "unpaid": _("A payment is missing: scans can begin again once it has arrived."),
    "dns_proof_missing": _("A deep scan needs a proof by DNS. Publish the TXT record and check it first."),
    "monthly_only": _("Deep scans by schedule run once a month. Choose every month, or another scan."),
    "no_engine": _("The scanner that found this does not run here, so it cannot retest."),
}
