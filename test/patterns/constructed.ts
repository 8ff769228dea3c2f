// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code
// `new RegExp` within functions (data): each has the reason for which its text is ours, and
// patterns that it makes. Text from outside is never a pattern: it is a string, or runs in re2js.
import { loadScanners } from '../../src/outbound/tracking/load-scanners.ts';

interface Constructed {
  file: string;
  /** First argument of `new RegExp`, as written. */
  text: string;
  reason: string;
  /** Patterns of this place; left out if it makes them all while its module loads. */
  examples?: readonly RegExp[];
}

const word = 'lq(\\d+)x';

export const constructed: readonly Constructed[] = [
  {
    file: 'src/content/rendering/compile/mjml-reader.ts',
    text: '`</${name}\\\\s*>`',
    reason: 'the name of a tag, in letters and dashes',
    examples: [/<\/mj-text\s*>/g],
  },
  {
    file: 'src/content/rendering/compile/partials.ts',
    text: '`(?:<!--)?(${this.#shields.words.source})(?:-->)?`',
    reason: 'the word of a shield: letters and digits',
    examples: [new RegExp(`(?:<!--)?(${word})(?:-->)?`, 'g')],
  },
  {
    file: 'src/content/rendering/compile/partials.ts',
    text: '`<!--(${shields.words.source})-->|--(${shields.words.source}): ?\\\\3|(${shields.words.source})=""`',
    reason: 'the word of a shield: letters and digits',
    examples: [new RegExp(`<!--(${word})-->|--(${word}): ?\\3|(${word})=""`, 'g')],
  },
  {
    file: 'src/content/rendering/compile/shields.ts',
    text: '`${prefix}(\\\\d+)x`',
    reason: 'the word of a shield: letters and digits',
    examples: [new RegExp(word, 'g')],
  },
  {
    file: 'src/content/rendering/compile/text.ts',
    text: '`<!--(${shields.words.source})-->`',
    reason: 'the word of a shield: letters and digits',
    examples: [new RegExp(`<!--(${word})-->`, 'g')],
  },
  {
    file: 'src/content/rendering/liquid/html-place.ts',
    text: '`</${this.element}(?=[\\\\s/>])`',
    reason: 'the name of an element with raw text',
    examples: [/<\/textarea(?=[\s/>])/gi],
  },
  {
    file: 'src/identity/domains/registrar/dns-hosts.ts',
    text: "`(^|\\\\.)(${ends.join('|')})$`",
    reason: 'dns-hosts.yaml of the program',
    examples: [/(^|\.)(awsdns-\d+\.(?:com|net|org)|cloudflare\.com)$/],
  },
  {
    file: 'src/mail/mime/extracts/code-words.ts',
    text: "patterns.map(({ source }) => source).join('|')",
    reason: 'literals of this file',
  },
  {
    file: 'src/mail/mime/extracts/code-words.ts',
    text: '`${source}[- ]?(?=(?:code|kod|код|コード))`',
    reason: 'literals of this file',
  },
  {
    file: 'src/mail/mime/headers/subject.ts',
    text: "`^(?:${words.join('|')})\\\\s*(?:(?:\\\\[\\\\d{1,3}\\\\]|\\\\(\\\\d{1,3}\\\\)|\\\\^\\\\d{1,3})\\\\s*)?[:：]\\\\s*`",
    reason: 'words of this file',
  },
  {
    file: 'src/mail/parse/bounce/bounced-recipient.ts',
    text: '`(^|\\\\s)${replyCode}[ -](?:[45]\\\\.\\\\d{1,3}\\\\.\\\\d{1,3}\\\\s)?`',
    reason: 'three digits',
    examples: [/(^|\s)550[ -](?:[45]\.\d{1,3}\.\d{1,3}\s)?/g],
  },
  {
    file: 'src/mail/parse/bounce/notice-words.ts',
    text: "patterns.map(({ source }) => source).join('|')",
    reason: 'literals of this file',
  },
  {
    file: 'src/outbound/tracking/load-scanners.ts',
    text: 'userAgent',
    reason: 'scanners.yaml of the program',
    examples: loadScanners().flatMap(({ userAgent }) => userAgent ?? []),
  },
  {
    file: 'src/outbound/tracking/scanners-schema.ts',
    text: 'text',
    reason: 'scanners.yaml of the program',
  },
  {
    file: 'src/platform/runtime/ids.ts',
    text: '`^${prefixOf(kind)}_[0-9a-hjkmnp-tv-z]{16,24}$`',
    reason: 'prefixes in the table of this file',
    examples: [/^msg_[0-9a-hjkmnp-tv-z]{16,24}$/],
  },
  {
    file: 'src/receipts/schema.ts',
    text: '`^[0-9a-f]{${2 * bytes}}$`',
    reason: 'a number of this file',
  },
];
