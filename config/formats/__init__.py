"""How days and numbers are written: as the page's script writes them in the reader's zone (portal.js)."""
