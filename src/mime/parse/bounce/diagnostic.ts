// Finds the SMTP reply in the words of a bounce: which command was answered, reply code, enhanced
// code, text. Systems wrap it each in their own way; what it means is src/smtp/replies/classify-reply.ts.
import type { RemoteReply } from '../../../smtp/outcome.ts';
import { cleanLine } from '../header-fields.ts';

const maxCharacters = 4096;
/** What a transcript goes on with after a reply. */
const afterReply = /\n[^\n]{0,40}(?:-->|>>>|---|giving up on)/i;
const maxTextCharacters = 1000;

/** Which command the words say was answered; the first that fits. */
const verbs: readonly (readonly [RegExp, string])[] = [
  [
    /(?:in reply to|after|response to|to) (?:the )?(?:pipelined )?"?end of data|\[END_OF_MESSAGE\]/i,
    'dot',
  ],
  [
    /(?:in reply to|after|response to|>>>) (?:the )?(?:pipelined )?"?(?:sending )?rcpt\b|\[RCPT_TO\]|\(RCPT TO\)/i,
    'RCPT',
  ],
  [
    /(?:in reply to|after|response to|>>>) (?:the )?(?:pipelined )?"?(?:sending )?mail from|\[MAIL_FROM\]/i,
    'MAIL',
  ],
  [/(?:in reply to|after|response to|>>>) (?:the )?(?:pipelined )?"?(?:sending )?data\b/i, 'DATA'],
  [/(?:in reply to|after|response to|>>>) (?:the )?"?(?:ehlo|helo)\b/i, 'EHLO'],
  [
    /initial (?:connection|protocol|server) ?(?:greeting)?|refused to talk to me|\[CONNECT(?:ION)?\]/i,
    'connect',
  ],
];

/** A reply code that a text follows; not a port, an address, a number within a word. */
const code = /(?:^|[\s;:,"'(#>])([45]\d\d)(?:(?:[ -]+#?([45]\.\d{1,3}\.\d{1,3})\b)|(?=[ -]|$))/;
const enhanced = /(?:^|[\s#(;:[])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/;

/** Repeated in front of each line of one reply: `550-5.1.1 first 550 5.1.1 second`. */
function withoutRepeats(text: string, replyCode: string): string {
  return text.replace(
    new RegExp(`(^|\\s)${replyCode}[ -](?:[45]\\.\\d{1,3}\\.\\d{1,3}\\s)?`, 'g'),
    '$1',
  );
}

function readText(words: string): string {
  const text = cleanLine(words).replace(/ {2,}/g, ' ');
  return text.slice(0, maxTextCharacters).toWellFormed();
}

/**
 * Reads a Diagnostic-Code without its type, or a paragraph of a notice. `verb` is `DSN` where the
 * words name no command; code and enhanced code are null where there are none. `text` is what
 * follows the code, at most 1,000 characters; all of it where there is no code.
 */
export function readDiagnostic(words: string): RemoteReply {
  const source = words.slice(0, maxCharacters);
  const verb = verbs.find(([pattern]) => pattern.test(source))?.[1] ?? 'DSN';
  const found = code.exec(source);
  const rest = found ? source.slice(found.index + found[0].length) : '';
  const after = rest.slice(0, afterReply.exec(rest)?.index);
  const enhancedCode = found?.[2] ?? (enhanced.exec(after) ?? enhanced.exec(source))?.[1] ?? null;
  if (!found) return { code: null, enhancedCode, text: readText(source), verb };
  const said = readText(withoutRepeats(after.replace(/^[\s:-]+/, ' '), found[1] ?? ''));
  const text = /\p{L}{3}/u.test(said) ? said : readText(source);
  return { code: Number(found[1]), enhancedCode, text, verb };
}
