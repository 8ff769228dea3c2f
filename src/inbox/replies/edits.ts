// The approver's edits of a proposed mail. The edited mail is a new mail, frozen again, for which
// the approver is responsible. From, Reply-To and threading stay as proposed.
import type { App } from '../../core/app.ts';
import { changesOf, type Details } from '../../history/audit/audit.ts';
import { decodedAttachments } from '../../outbound/sending/content.ts';
import { composeFrozen, type Frozen, filesOf } from './frozen.ts';
import { type Mail, siftRecipients, wordsAfter } from './mail.ts';
import type { ApproveAction, SkippedRecipient } from './schema.ts';
import { requireWhole } from './send.ts';

type Edits = NonNullable<ApproveAction['edits']>;

/** An approved mail, with the edits of the approver. */
export interface ApprovedMail {
  frozen: Frozen;
  /** Recipients added by the edits that cannot receive the mail. */
  skipped: SkippedRecipient[];
  /** Digest of the edited mail; null without edits. */
  editedDigest: string | null;
  /** Changed fields for the audit log, which keeps no text of mails. */
  changes: Details;
}

const whenNull = { to: [], cc: [], bcc: [], subject: '', text: null, html: null };

type Editable = Pick<Mail, keyof typeof whenNull>;

function changed(mail: Editable, edits: Edits): Editable {
  const names = Object.keys(whenNull) as (keyof Editable)[];
  const given = names.filter((name) => edits[name] !== undefined);
  const values = given.map((name) => [name, edits[name] ?? whenNull[name]]);
  const { to, cc, bcc, subject } = mail;
  return {
    to,
    cc,
    bcc,
    subject,
    ...wordsAfter(mail, edits),
    ...Object.fromEntries(values),
  };
}

function shown({ to, cc, bcc, subject }: Editable) {
  return { to, cc, bcc, subject };
}

type Files = ReturnType<typeof filesOf>;

function areSame(one: Files, other: Files): boolean {
  if (one.length !== other.length) return false;
  return one.every(({ data, ...file }, index) => {
    const { data: bytes, ...like } = other[index] as Files[number];
    return JSON.stringify(file) === JSON.stringify(like) && data.equals(bytes);
  });
}

/** Returns the length of a file in Base64. */
const encodedSize = ({ data }: Files[number]) => Math.ceil(data.length / 3) * 4;

/**
 * Applies the approver's edits; without a change it returns the proposed mail itself.
 * @throws ValidationError if the edits leave nothing to send; MalformedRequestError (413).
 */
export async function withEdits(
  app: App,
  organizationId: string,
  frozen: Frozen,
  edits: Edits | null | undefined,
): Promise<ApprovedMail> {
  const { mail } = frozen;
  const after = changed(mail, edits ?? {});
  const before = filesOf(frozen);
  const given = edits?.attachments;
  const files = given === undefined ? before : decodedAttachments(given ?? []);
  const words = [
    ...(['text', 'html'] as const).filter((name) => mail[name] !== after[name]),
    ...(areSame(before, files) ? [] : ['attachments']),
  ];
  const changes = {
    ...changesOf(shown(mail), shown(after)),
    ...(words.length > 0 && { words }),
  };
  if (Object.keys(changes).length === 0) {
    return { frozen, skipped: [], editedDigest: null, changes };
  }
  requireWhole(after, files.map(encodedSize));
  const [sifted] = await siftRecipients(app.store.db, [{ organizationId, mail: after }]);
  const { to = [], cc = [], bcc = [], skipped = [] } = sifted ?? {};
  const unfrozen = { ...mail, ...after, to, cc, bcc };
  const another = await composeFrozen(app, organizationId, unfrozen, files);
  return { frozen: another, skipped, editedDigest: another.digest, changes };
}
