// Inputs that are short whatever comes from outside (data). A pattern of these files may grow
// faster than its input, or be undecided, if verdicts.txt has it under the name of the input.
// bounded-patterns.test.ts attacks it there.

interface BoundedInput {
  /** Longest text that the pattern meets. In UTF-8 a character takes three bytes at most. */
  characters: number;
  /** The code that cuts or refuses longer texts. */
  cutBy: string;
  /** Files whose patterns meet this input. */
  files: readonly string[];
  /** True if the pattern runs in a worker, which a deadline ends. */
  isInWorker?: true;
}

export const boundedInputs: Readonly<Record<string, BoundedInput>> = {
  reply: {
    characters: 4096,
    cutBy: 'plainWords of classify-reply.ts, otherInWords of named-address.ts',
    files: [
      'src/mail/parse/bounce/named-address.ts',
      'src/mail/smtp/reply-rules/classify-reply.ts',
      'src/mail/smtp/reply-rules/rules-conduct.ts',
      'src/mail/smtp/reply-rules/rules-form.ts',
      'src/mail/smtp/reply-rules/rules-mailbox.ts',
      'src/mail/smtp/reply-rules/rules-pace.ts',
      'src/mail/smtp/reply-rules/rules-proof.ts',
      'src/mail/smtp/reply-rules/rules-reputation.ts',
    ],
  },
  notice: {
    characters: 5120,
    cutBy:
      'maxParagraphCharacters and maxLineCharacters of notice.ts, subjectOf of bounce-report.ts',
    files: ['src/mail/parse/bounce/notice-words.ts', 'src/mail/parse/bounce/notice.ts'],
  },
  'returned header': {
    characters: 4096,
    cutBy: 'addressesOf of returned-copy.ts',
    files: ['src/mail/parse/bounce/returned-copy.ts'],
  },
  'attribution line': {
    characters: 600,
    cutBy: 'maxCharacters and longestEnd of attribution.ts',
    files: ['src/mail/parse/reply/attribution.ts'],
  },
  'header line': {
    characters: 400,
    cutBy: 'maxLabelLine of header-block.ts',
    files: ['src/mail/parse/reply/header-block.ts'],
  },
  'mobile line': {
    characters: 200,
    cutBy: 'mostMobileCharacters of signature.ts',
    files: ['src/mail/parse/reply/signature.ts'],
  },
  'words at a number': {
    characters: 1000,
    cutBy: 'wordsBefore and mostSubjectCharacters of find-code.ts',
    files: ['src/mail/mime/extracts/code-words.ts'],
  },
  'text of a mail': {
    characters: 256 * 1024,
    cutBy: 'mostTextCharacters of find-code.ts, mostCharacters of html/tokens.ts',
    isInWorker: true,
    files: ['src/mail/mime/extracts/find-code.ts', 'src/mail/mime/extracts/html-blocks.ts'],
  },
  'user agent': {
    characters: 256,
    cutBy: 'userAgentOf of automated.ts',
    files: ['src/outbound/tracking/load-scanners.ts'],
  },
  // The verdict is open for the flag v alone: each is one class, repeated.
  'indexed text': {
    characters: 200_000,
    cutBy: 'mostCharacters of document.ts',
    files: ['src/platform/full-text/words.ts'],
  },
};
