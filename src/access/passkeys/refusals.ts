// Refusals of passkeys. Visitors without an account read them too, so no text says whether an
// address is known.

const messages = {
  'no-site': 'Passkeys need https and the name of a host: see http.publicUrl.',
  unreadable: 'The browser sent no passkey that can be read. Try it again.',
  old: 'The question was older than five minutes. Try it again.',
  used: 'This answer was used already. Try it again.',
  foreign: 'The passkey answered another question. Load the page again, and try it once more.',
  unknown: 'This passkey opens nothing here. Choose another one, or another way to sign in.',
  invalid: 'The passkey could not be verified. Try it again, or choose another way to sign in.',
  copied:
    'This passkey is refused: its counter did not grow, so a copy of it may exist. Come in ' +
    'another way, remove it in My account, and add a new one.',
  taken: 'This passkey is stored already.',
  full: 'No more passkeys fit here: remove one first.',
  'not-first':
    'A mailed link adds only a first passkey, within 7 days after you joined. Come in another ' +
    'way, or ask the operator for "svc members reset".',
} as const;

export type PasskeyReason = keyof typeof messages;

/** A refused passkey. */
export class PasskeyRefusal {
  readonly reason: PasskeyReason;
  /** Person of the refused passkey, for the audit; null if no person is known. */
  readonly personId: string | null;

  constructor(reason: PasskeyReason, personId: string | null = null) {
    this.reason = reason;
    this.personId = personId;
  }

  /** Sentence for the page: what is wrong, and what to do next. */
  get message(): string {
    return messages[this.reason];
  }
}
