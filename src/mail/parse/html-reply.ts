// Converts the HTML of a mail into text for the reply split, with marks where mail programs name a quotation
// or a signature by class or id. So their language does not matter. Marks are noncharacters of Unicode, each on
// a line of its own; `readMarks` takes them out again.
import { type BlockBuilder, compile, type HtmlElement, type Walk } from 'html-to-text';
import { withoutHiddenWords } from '../mime/html/visible-html.ts';
import { parseLimits } from '../mime/parsed-mail.ts';

/**
 * `whole`: all of the element is quoted. `lead`: it is quoted up to the first `>`; between later ones the
 * sender may answer. `tail`: all text from here is quoted. `signature`: all of the element is one.
 */
const marks = { whole: '\ufdd0', lead: '\ufdd1', tail: '\ufdd2', signature: '\ufdd3' } as const;
type Mark = keyof typeof marks;
const endMark = '\ufdd4';
const anyMark = /[\ufdd0-\ufdd4]/;
const everyMark = /[\ufdd0-\ufdd4]/g;

/** Classes (`.`), ids (`#`) and names (`=`) of `<div>`, by mark. */
const divisions: Record<Mark, string> = {
  whole:
    '.yahoo_quoted .zmail_extra .mail_android_quote .tutanota_quote .hs_reply .ntes_quote .quoted_mail ' +
    '#OLK_SRC_BODY_SECTION #qt =quote =__HEADERS__ =__QUOTED_TEXT__',
  lead: '.gmail_quote .gmail_attr .protonmail_quote .moz-cite-prefix .iosymail #reply-intro',
  tail:
    '.moz-forward-container .moz-email-headers-table #appendonsend #divRplyFwdMsg ' +
    '#mail-editor-reference-message-container #ms-outlook-mobile-reference-message',
  signature:
    '.gmail_signature .moz-signature .protonmail_signature_block #Signature ' +
    '#ms-outlook-mobile-signature #AppleMailSignature #ymail_android_signature',
};
const markByName = new Map(
  (Object.keys(marks) as Mark[]).flatMap((mark) =>
    divisions[mark].split(' ').map((name) => [name, mark] as const),
  ),
);
/** The line that Outlook draws above the header block of the quoted mail. */
const outlookBorder = /border-top:\s?solid #(?:E1E1E1|B5C4DF)/i;
/** Longest attribute that is read. */
const maxAttribute = 500;

function markOf(attributes: HtmlElement['attribs'] = {}): Mark | null {
  const { id, class: classes, name, style, 'data-marker': marker } = attributes;
  const names = [id && `#${id}`, name && `=${name}`, marker && `=${marker}`];
  if (classes)
    names.push(
      ...classes
        .slice(0, maxAttribute)
        .split(/\s+/)
        .map((one) => `.${one}`),
    );
  for (const one of names) {
    const mark = one && markByName.get(one);
    if (mark) return mark;
  }
  return style && outlookBorder.test(style.slice(0, maxAttribute)) ? 'tail' : null;
}

/** Writes a mark on a line of its own. */
function addMark(builder: BlockBuilder, mark: string): void {
  builder.openBlock({ leadingLineBreaks: 1 });
  builder.addLiteral(mark);
  builder.closeBlock({ trailingLineBreaks: 1 });
}

function formatAs(mark: Mark | null, element: HtmlElement, walk: Walk, builder: BlockBuilder) {
  if (mark) addMark(builder, marks[mark]);
  builder.openBlock({ leadingLineBreaks: 1 });
  walk(element.children ?? [], builder);
  builder.closeBlock({ trailingLineBreaks: 1 });
  if (mark && mark !== 'tail') addMark(builder, endMark);
}

type Formatter = (element: HtmlElement, walk: Walk, builder: BlockBuilder) => void;
const formatters: Record<Mark | 'division', Formatter> = {
  division: (element, ...rest) => formatAs(markOf(element.attribs), element, ...rest),
  whole: (...rest) => formatAs('whole', ...rest),
  lead: (...rest) => formatAs('lead', ...rest),
  tail: (...rest) => formatAs('tail', ...rest),
  signature: (...rest) => formatAs('signature', ...rest),
};

const convert = compile({
  wordwrap: false,
  limits: { maxInputLength: parseLimits.splitCharacters, maxDepth: 100 },
  formatters,
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { ignoreHref: true } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
      selector,
      options: { uppercase: false },
    })),
    // One formatter for all <div>, because a selector for each name makes them five times slower.
    { selector: 'div', format: 'division' },
    { selector: 'span.gmail_signature_prefix', format: 'signature' },
    { selector: 'pre.moz-signature', format: 'signature' },
    { selector: 'p.yahoo-quoted-begin', format: 'lead' },
    { selector: 'hr#stopSpelling', format: 'tail' },
    { selector: 'hr#zwchr', format: 'tail' },
    { selector: 'table.moz-email-headers-table', format: 'tail' },
  ],
});

/**
 * Converts the visible words of an HTML part to text, with `> ` before lines of a blockquote, and with marks. Reads only the first
 * 256 KB, because html-to-text is not linear: 256 KB of nested <div> take 0.5 s, 1 MB 14 s.
 */
export function htmlToText(html: string): string {
  const visible = withoutHiddenWords(html.slice(0, parseLimits.splitCharacters));
  return convert(visible.replace(everyMark, '')).replaceAll('\u00a0', ' ');
}

export interface MarkedLines {
  lines: string[];
  /** Lines that a mark declares quoted, or part of a signature. */
  declared: ('quoted' | 'signature' | null)[];
}

/** Takes the marks out of the lines. Marks below a `>` belong to an older mail and mean nothing. */
export function readMarks(marked: readonly string[]): MarkedLines {
  const lines: string[] = [];
  const declared: MarkedLines['declared'] = [];
  const open: { mark: Mark; isPast: boolean }[] = [];
  const count = { whole: 0, signature: 0, tail: 0, lead: 0 };
  for (const line of marked) {
    if (!anyMark.test(line)) {
      if (/^[ \t]*>/.test(line)) {
        const lead = open.at(-1);
        if (lead) lead.isPast = true;
      }
      lines.push(line);
      const isLead = open.at(-1)?.mark === 'lead' && open.at(-1)?.isPast === false;
      const isQuoted = count.tail + count.whole > 0 || isLead;
      declared.push(isQuoted ? 'quoted' : count.signature > 0 ? 'signature' : null);
      continue;
    }
    const found = line.trim();
    const mark = (Object.keys(marks) as Mark[]).find((one) => marks[one] === found);
    if (mark !== undefined) {
      count[mark] += 1;
      if (mark !== 'tail') open.push({ mark, isPast: false });
    } else if (found === endMark) {
      const closed = open.pop();
      if (closed) count[closed.mark] -= 1;
      const outer = open.at(-1);
      if (outer && closed?.isPast) outer.isPast = true;
    }
  }
  return { lines, declared };
}
