// The command line of `svc sendmail`, in the forms that programs write for /usr/sbin/sendmail:
// clusters of letters, values attached or not (`-ti -fwww -oi -FCron`), and many options without a
// meaning here.
import { UsageError } from '../output/failure.ts';

export interface SendmailWords {
  config?: string;
  org: string | undefined;
  json: boolean;
  endsAtDot: boolean;
  readsRecipients: boolean;
  recipients: string[];
  from: string | null;
  name: string | null;
  isVerbose: boolean;
  /**
   * `-q`, `-bi` or `-I`: run the queue or rebuild the aliases. Neither is needed: the daemon runs
   * the queue, and there are no aliases.
   */
  asksUpkeep: boolean;
}

/** Options with a value that are known to sendmail, Postfix or Exim, but change nothing here. */
const ignoredWithValue = 'ABCDLMNORVXehp';
/** Options with an optional value, always attached: `-d0.1`. */
const ignoredWithAttached = 'Qd';
const ignored = 'EGTUcmnswx';

/** Reads the value of an option: the rest of the word or, unless `attached`, the next word. */
type ReadValue = (attached?: 'attached') => string;

/** Applies an option of a single letter. */
function applyLetter(words: SendmailWords, letter: string, value: ReadValue): void {
  switch (letter) {
    case 't':
      words.readsRecipients = true;
      return;
    case 'i':
      words.endsAtDot = false;
      return;
    case 'v':
      words.isVerbose = true;
      return;
    case 'f':
    case 'r':
      words.from = readReversePath(value());
      return;
    case 'F':
      words.name = value().trim() || null;
      return;
    case 'o':
      if (value() === 'i') words.endsAtDot = false;
      return;
    case 'b':
      checkMode(words, value());
      return;
    case 'q':
      value('attached');
      words.asksUpkeep = true;
      return;
    case 'I':
      words.asksUpkeep = true;
      return;
    default:
      if (ignoredWithValue.includes(letter)) value();
      else if (ignoredWithAttached.includes(letter)) value('attached');
      else if (!ignored.includes(letter)) throw new UsageError(`-${letter}: unknown option`);
  }
}

/** Returns the sender; null for an empty sender and for `<>`, which asks for no bounces. */
function readReversePath(text: string): string | null {
  const path = text.trim();
  return path === '' || /^<\s*>$/.test(path) ? null : path;
}

/** Refuses all modes (`-b…`) except `m`, which reads a mail, and `i`, which sets `asksUpkeep`. */
function checkMode(words: SendmailWords, mode: string): void {
  if (mode === 'i') words.asksUpkeep = true;
  if (mode === 'm' || mode === 'i') return;
  const instead =
    mode === 's' ? ': have the program use SMTP (smtp.submission), or sendmail -t' : '';
  throw new UsageError(`-b${mode} is not supported${instead}`);
}

/** @throws UsageError for an unknown option. */
export function readSendmailWords(argv: readonly string[], org?: string): SendmailWords {
  const words: SendmailWords = {
    org,
    json: false,
    endsAtDot: true,
    readsRecipients: false,
    recipients: [],
    from: null,
    name: null,
    isVerbose: false,
    asksUpkeep: false,
  };
  const left = [...argv];
  const next = (option: string): string => {
    const value = left.shift();
    if (value === undefined) throw new UsageError(`${option} needs a value`);
    return value;
  };
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === '--') words.recipients.push(...left.splice(0));
    else if (word.startsWith('--')) applyLong(words, word, next);
    else if (word.startsWith('-') && word !== '-') applyLetters(words, word.slice(1), next);
    else words.recipients.push(word);
  }
  return words;
}

function applyLetters(words: SendmailWords, cluster: string, next: (option: string) => string) {
  for (let at = 0; at < cluster.length; at += 1) {
    const letter = cluster.charAt(at);
    let isOver = false;
    applyLetter(words, letter, (attached) => {
      isOver = true;
      return cluster.slice(at + 1) || (attached ? '' : next(`-${letter}`));
    });
    if (isOver) return;
  }
}

/** Applies a long flag, such as `--config`, which every command accepts. */
function applyLong(words: SendmailWords, word: string, next: (option: string) => string): void {
  const [, name = '', attached] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const value = () => attached ?? next(`--${name}`);
  if (name === 'json') words.json = true;
  else if (name === 'config') words.config = value();
  else if (name === 'org') words.org = value();
  else throw new UsageError(`--${name}: unknown option`);
}
