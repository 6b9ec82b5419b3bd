/** What must never become an element or run. */
export const MARKUP = `<img src=x onerror="document.title='run'"><script>throw 1</script>&amp;`;
/** Turns the direction of what follows, and is invisible. */
export const BIDI = "\u202Egnp.\u2066exe\u200F";
/** A text of 1 MB. */
export const LONG = "long ".repeat(210_000);
/** JSON of so many levels. */
export const DEEP = `${"[".repeat(2_000)}1${"]".repeat(2_000)}`;
