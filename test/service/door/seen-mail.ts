// The judge of a walk: the picture that a person saw of a mail, and the mail of the sink.
import { sql } from 'kysely';
import type { MailPicture } from '../../../src/inbox/approvals/schema.ts';
import type { HeaderAddress } from '../../../src/mail/mime/parsed-mail.ts';
import { messageIdOf } from '../../../src/outbound/messages/own-message-id.ts';
import { findMessageRow } from '../../../src/outbound/messages/queries.ts';
import type { StoredOrigin } from '../../../src/outbound/messages/schema.ts';
import { fromJson } from '../../../src/platform/store/db.ts';
import type { SinkMessage } from '../../support/smtp-sink-session.ts';
import type { TestApp } from '../../support/test-app.ts';

/** All that a person is shown of a mail, but for notes. */
export type Shown = Omit<MailPicture, 'notes'>;

/** A mail that a person caused. */
interface Seen {
  kind: string;
  shown: Shown;
  /**
   * Address of the contact for which the mail of a run was shown; null for mail of no run.
   * Recipients of a run are the members of its audience at the start.
   */
  reader: string | null;
}

/** A mail of the service for which a person asked. */
interface Asked {
  kind: string;
  to: string;
  /** Beginning of its subject. */
  subject: string;
}

/** A mail of the sink with its verdict. */
export interface Judged {
  /** `person` and the kind of the mail, or the kind of the agent. */
  by: string;
  /** Empty for a mail that may leave. */
  problems: string[];
}

/** Kinds of agents that may send alone, with the condition (docs/making/door.md). */
export type AllowedAlone = Readonly<
  Record<string, (messageId: string, from: string) => Promise<boolean>>
>;

const linesOf = (text: string | null) =>
  text
    ?.replaceAll('\r\n', '\n')
    .replaceAll(/https?:\/\/[^\s"/]+\/u\/[\w.-]+|\{\{[^}]*unsubscribe[^}]*\}\}/g, 'UNSUBSCRIBE')
    .trimEnd() ?? null;

const addressesOf = (list: readonly HeaderAddress[]) => list.map(({ email }) => email).sort();
const sorted = (list: readonly string[]) => [...list].sort();

const filesOf = (
  files: readonly { filename: string | null; contentType: string | null; size: number }[],
) => files.map(({ filename, contentType, size }) => `${filename} ${contentType} ${size}`);

/** Collects the pictures that a person saw, and judges the mail of a sink. */
export class SeenMail {
  readonly #test: TestApp;
  /** By the id of a message or a run. */
  readonly #seen = new Map<string, Seen>();
  readonly #asked: Asked[] = [];

  constructor(test: TestApp) {
    this.#test = test;
  }

  /** Records a mail that a person caused as it was shown. */
  see(kind: string, id: string, shown: Shown, reader: string | null = null): void {
    this.#seen.set(id, { kind, shown, reader });
  }

  /** Records a mail of the service for which a person asked. */
  ask(kind: string, to: string, subject: string): void {
    this.#asked.push({ kind, to, subject });
  }

  /** Judges a mail; `agents` are the kinds of agents by the id of their keys. */
  async judge(
    { raw, recipients }: SinkMessage,
    agents: ReadonlyMap<string, string>,
    allowedAlone: AllowedAlone,
  ): Promise<Judged> {
    const { app } = this.#test;
    const mail = await app.mime.parse(raw);
    const id = messageIdOf(mail.messageIdHeader) ?? '';
    const row = await findMessageRow(app.store.db, id);
    if (!row) return { by: 'nobody', problems: [`${mail.messageIdHeader}: an unknown message`] };
    const seen = this.#seen.get(id) ?? this.#seen.get(row.campaign_run_id ?? '');
    if (seen) {
      return { by: `person ${seen.kind}`, problems: differences(seen, mail, recipients) };
    }
    const origin = fromJson<StoredOrigin>(row.origin);
    const agent = agents.get(origin?.keyId ?? '');
    if (agent === undefined) return this.#judgeAsked(mail.subject ?? '', recipients);
    const may = await allowedAlone[agent]?.(id, row.from_email);
    const what = `${mail.subject} to ${recipients.join(', ')}`;
    return { by: agent, problems: may ? [] : [`${agent} sent alone: ${what}`] };
  }

  /** Judges mail under the name of a person that no request of the person names by its id. */
  #judgeAsked(subject: string, recipients: readonly string[]): Judged {
    const at = this.#asked.findIndex(
      (one) =>
        subject.startsWith(one.subject) && recipients.length === 1 && one.to === recipients[0],
    );
    const [found] = at < 0 ? [] : this.#asked.splice(at, 1);
    if (found) return { by: `person ${found.kind}`, problems: [] };
    const what = `${subject} to ${recipients.join(', ')}`;
    return { by: 'person', problems: [`no person caused: ${what}`] };
  }
}

/** Returns whether a message is a send of a mailbox, from an address of that mailbox. */
export async function isOfMailbox(
  { app }: TestApp,
  mailboxId: string,
  [messageId, from]: readonly [string, string],
): Promise<boolean> {
  const query = sql<{ n: number }>`select count(*) as n from mailbox_actions a
    join mailbox_addresses d on d.mailbox_id = a.mailbox_id
    where a.message_id = ${messageId} and a.mailbox_id = ${mailboxId} and d.address = ${from}`;
  return Number((await query.execute(app.store.db)).rows[0]?.n) > 0;
}

type Parsed = Awaited<ReturnType<TestApp['app']['mime']['parse']>>;

/**
 * Words of a mail; the address of `reader`, with which the mail of a run is filled, is left out.
 */
function wordsOf(mail: Pick<Parsed, 'subject' | 'text' | 'html'>, reader: string | null) {
  const lines = (text: string | null) => {
    const read = text && linesOf(text);
    return reader === null ? read : (read?.replaceAll(reader, 'READER') ?? null);
  };
  return { subject: lines(mail.subject), text: lines(mail.text), html: lines(mail.html) };
}

/** Compares a mail with the shown picture. */
function differences({ kind, shown, reader }: Seen, mail: Parsed, recipients: readonly string[]) {
  const isRun = reader !== null;
  const seenWords = {
    from: { email: shown.from.email, name: shown.from.name },
    replyTo: sorted(shown.replyTo),
    ...wordsOf(shown, reader),
    files: filesOf(shown.attachments),
    ...(!isRun && { to: sorted(shown.to), cc: sorted(shown.cc) }),
  };
  const left = wordsOf(mail, isRun ? (recipients[0] ?? '') : null);
  const leftWords = {
    from: { email: mail.from?.email, name: mail.from?.name },
    replyTo: addressesOf(mail.replyTo),
    ...left,
    // A text that is made from the HTML says nothing else.
    ...(shown.text === null && { text: null }),
    files: filesOf(mail.attachments),
    ...(!isRun && { to: addressesOf(mail.to), cc: addressesOf(mail.cc) }),
  };
  const names = Object.keys(seenWords) as (keyof typeof seenWords)[];
  const problems = names.flatMap((name) => {
    const [saw, sent] = [JSON.stringify(seenWords[name]), JSON.stringify(leftWords[name])];
    return saw === sent ? [] : [`${kind}: the person saw ${name} ${saw}, and ${sent} left`];
  });
  const allowed = [...shown.to, ...shown.cc, ...shown.bcc];
  const others = isRun ? [] : recipients.filter((one) => !allowed.includes(one));
  return [...problems, ...others.map((one) => `${kind}: the person did not see ${one}`)];
}
