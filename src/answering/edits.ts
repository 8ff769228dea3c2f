// Edits of a proposed mail by the person who approves it. They make another mail, frozen in its turn, which that
// person answers for. Its From, Reply-To and threading stay those that were proposed.
import type { App } from '../app.ts';
import { changesOf, type Details } from '../audit/audit.ts';
import { decodedAttachments } from '../sending/content.ts';
import { composed, type Frozen, filesOf } from './frozen.ts';
import { type Mail, siftRecipients } from './mail.ts';
import type { ApproveAction, SkippedRecipient } from './schema.ts';
import { requireWhole } from './send.ts';

type Edits = NonNullable<ApproveAction['edits']>;

/** A mail as it is approved. */
export interface ApprovedMail {
  frozen: Frozen;
  /** Recipients that were named in the edits and cannot get it. */
  skipped: SkippedRecipient[];
  /** Null where it goes as it was proposed. */
  editedDigest: string | null;
  /** For the audit, which keeps no words. */
  changes: Details;
}

const whenNull = { to: [], cc: [], bcc: [], subject: '', text: null, html: null };

type Editable = Pick<Mail, keyof typeof whenNull>;

function changed(mail: Editable, edits: Edits): Editable {
  const names = Object.keys(whenNull) as (keyof Editable)[];
  const given = names.filter((name) => edits[name] !== undefined);
  const values = given.map((name) => [name, edits[name] ?? whenNull[name]]);
  const { to, cc, bcc, subject, text, html } = mail;
  return { ...{ to, cc, bcc, subject, text, html }, ...Object.fromEntries(values) };
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

/** Base64 of a file of so many bytes. */
const encodedSize = ({ data }: Files[number]) => Math.ceil(data.length / 3) * 4;

/**
 * The mail with the edits of the person who approves it; without a change it is the very mail that was
 * proposed. @throws ValidationError where they leave nothing to send; MalformedRequestError (413).
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
  const unfrozen = { ...mail, ...after, ...{ to, cc, bcc } };
  const another = await composed(app, organizationId, unfrozen, files);
  return { frozen: another, skipped, editedDigest: another.digest, changes };
}
