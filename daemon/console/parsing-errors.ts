// Faults that the parser found in a received mail. They tell the reader which words may be missing,
// and at which place.
import type { ParsingErrorCode } from '../../src/mail/mime/parsed-mail.ts';
import type { EmailProjection } from '../../src/outbound/messages/email-schema.ts';
import { html, type Part } from './html.ts';

/** The meaning of each code for a reader of the mail. */
const meanings: Readonly<Record<ParsingErrorCode, string>> = {
  'mail-too-large': 'The mail is larger than the service reads: the end is missing here.',
  'header-too-large': 'The header is larger than the service reads: the last fields are missing.',
  'too-many-header-fields':
    'The header has more fields than the service reads: the last ones are missing.',
  'header-field-too-long':
    'A header field is longer than the service reads: the end of the field is missing.',
  'malformed-header': 'A line of the header is no header field: it may be missing here.',
  'missing-header': 'A header field that every mail needs is missing or cannot be read.',
  'duplicate-header': 'A header field that may occur once occurs several times: the first counts.',
  'invalid-header': 'A header field breaks the rules of mail: the value may be incomplete.',
  'too-many-addresses':
    'A list of addresses is longer than the service reads: the last ones are missing.',
  'missing-boundary':
    'The mail says that it has several parts, but not where they begin: it is shown as one text.',
  'unclosed-multipart': 'The last part has no end: the mail may have been cut off on the way.',
  'too-many-parts': 'The mail has more parts than the service reads: the last ones are missing.',
  'nested-too-deep':
    'Parts lie deeper within each other than the service reads: words or files may be missing.',
  'part-header-too-large':
    'The header of a part is larger than the service reads: the part may be missing.',
  'unknown-charset':
    'The service does not know the character set of the text: letters may be wrong.',
  'undecodable-text':
    'Some bytes of the text have no meaning in the character set: letters may be wrong.',
  'text-truncated': 'The text is longer than the service reads: the end is missing here.',
  'html-truncated': 'The HTML is longer than the service reads: the end is missing here.',
  'report-truncated': 'A report in the mail is longer than the service reads: the end is missing.',
  'split-truncated':
    'The text is too long to find quotations: the new words may be mixed with quoted ones.',
  'split-timeout': 'Finding quotations took too long: the new words may be mixed with quoted ones.',
  'parse-timeout': 'Reading the mail took too long: words or files may be missing.',
  'parser-failed': 'The mail could not be read to the end: words or files may be missing.',
};

/** Explains a code to the reader of the mail. For an unknown code, returns the parser's message. */
function meaningOf(code: string, message: string): string {
  return Object.hasOwn(meanings, code) ? meanings[code as ParsingErrorCode] : message;
}

/** Draws the faults of a mail, with a link to the raw bytes; nothing for a mail without faults. */
export function parsingErrors(
  { parsingErrors: errors }: EmailProjection,
  rawPath: string | null,
): Part {
  if (errors === null || errors.length === 0) return null;
  return html`<section aria-label="Faults of the mail">
    <h2>Faults of the mail</h2>
    <p class="note">Not all of this mail could be read, so this page may lack words or files.
      ${rawPath !== null && html`The ${html`<a href=${rawPath}>raw mail</a>`} has all that came.`}</p>
    <ul>${errors.map(
      ({ code, message, part }) =>
        html`<li>${meaningOf(code, message)} <small>${code}: ${message}${part !== undefined && ` (part ${part})`}</small></li>`,
    )}</ul>
  </section>`;
}
