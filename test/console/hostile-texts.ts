// Texts that would run a script, load from a host, change the page around them, or mislead the
// reader.

/** Ends of the place in which a text stands. */
const ends = [
  '',
  '"',
  "'",
  '>',
  '">',
  "'>",
  '-->',
  ']]>',
  '</title>',
  '</textarea>',
  '</script>',
  '</pre></td>',
];

/** Markup that a page must not get. */
const markup = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<a href="javascript:alert(1)">x</a>',
  '<form action="https://evil.test"><button>x</button></form>',
  '<base href="https://evil.test/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.test/">',
  '<link rel="stylesheet" href="https://evil.test/x.css">',
  '<style>@import "https://evil.test/x.css";</style>',
  '<object data="https://evil.test/"></object>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<details open ontoggle=alert(1)>',
  '<input autofocus onfocus=alert(1)>',
  '<template><script>alert(1)</script></template>',
];

const attributes = [
  '" onmouseover="alert(1)',
  "' onmouseover='alert(1)",
  'x onmouseover=alert(1)',
  '`onmouseover=alert(1)`',
  '" style="position:fixed;inset:0',
  '" formaction="javascript:alert(1)',
];

const links = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' \t\njavascript:alert(1)',
  'java\tscript:alert(1)',
  '\u0001javascript:alert(1)',
  '&#106;avascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'file:///etc/passwd',
  '//evil.test',
  '\\\\evil.test',
];

/** Controls, marks of direction and characters without a width, in a name. */
const misleading = [
  ...[0x00, 0x07, 0x08, 0x1b, 0x7f, 0x85, 0x9b, 0xad, 0x61c, 0x180e],
  ...[0x200b, 0x200c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202d, 0x202e],
  ...[0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0x2028, 0x2029, 0xfeff, 0xfff9, 0xe0041],
].map((code) => `invoice${String.fromCodePoint(code)}fdp.exe`);

export const hostileTexts: readonly string[] = [
  ...ends.flatMap((end) => markup.map((one) => `${end}${one}`)),
  ...attributes,
  ...links,
  ...misleading,
  'x'.repeat(10_000),
  '\u202e'.repeat(100),
  '__proto__',
  'constructor',
];
