// Words of all services in a column of reasons or states, by key (columnKey).
import type { BlockReason } from '../blocks/schema.ts';

const words = (reason: BlockReason, all: readonly string[]) =>
  all.map((word) => [word, reason] as const);

/** Words that mean an opt-out in any column. */
export const optOutWords: ReadonlyMap<string, BlockReason> = new Map([
  ...words('unsubscribe', ['unsubscribed', 'unsubscribe', 'optout', 'optedout', 'emailoptout']),
  ...words('unsubscribe', ['blocklisted', 'blacklisted', 'emailblacklisted', 'emailblocklisted']),
  ...words('unsubscribe', ['globalunsubscribe', 'donotemail', 'donotcontact', 'withdrawn']),
  ...words('bounce', ['bounced', 'bounce', 'hardbounce', 'hardbounced', 'emailhardbounced']),
  ...words('complaint', ['complained', 'complaint', 'spamcomplaint', 'spamreport', 'markedasspam']),
  ...words('manual', ['suppressed', 'usersuppressed', 'manualsuppression']),
]);

/** Words in a column of reasons or of states. */
export const reasonWords: ReadonlyMap<string, BlockReason> = new Map([
  ...optOutWords,
  ...words('bounce', ['cleaned', 'invalid', 'invalidemail']),
  ...words('complaint', ['spam', 'abuse']),
  // States of a contact that exists but gets no mail.
  ...words('manual', ['disabled', 'blocked', 'manual']),
]);
