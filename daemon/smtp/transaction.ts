// A mail transaction of a session (RFC 5321 3.3): sender, resolved recipients, then the message
// itself. The message is read into bounded memory and passed to src/inbox/receiving. The 250 to
// DATA follows `receive`, which resolves after the durable commit.
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { App } from '../../src/core/app.ts';
import { type ReceivedEnvelope, receive } from '../../src/inbox/receiving/receive.ts';
import type { InboundRefusal } from '../../src/inbox/receiving/refusal.ts';
import { type Addressee, resolveAddressee } from '../../src/inbox/receiving/resolve.ts';
import { parseAddress } from '../../src/platform/net/address.ts';
import { siteOf } from '../../src/platform/net/network-address.ts';
import type { SharedPool } from '../../src/platform/runtime/fairness/shared-pool.ts';
import { type Answer, collectData, type Taken } from './data.ts';
import { ourFault, replies, SmtpRefusal } from './errors.ts';
import type { SmtpLimits } from './limits.ts';
import { MailCollector } from './mail-collector.ts';
import { logReceived, logRefusal } from './mail-log.ts';
import type { Session, Sessions, Transaction } from './sessions.ts';

/** Context shared by the transactions of a listener. */
export interface Reception {
  app: App;
  limits: SmtpLimits;
  sessions: Sessions;
  memory: SharedPool;
}

const notAscii = /[^\x20-\x7e]/;

function needsSmtpUtf8(address: string, { envelope }: SMTPServerSession): boolean {
  const localPart = address.slice(0, address.lastIndexOf('@'));
  return notAscii.test(localPart) && !envelope.smtpUtf8;
}

/** Returns the size limit of a message to this many mailboxes. */
function mostBytes({ app, limits }: Reception, mailboxes: number): number {
  const { maxMessageBytes } = app.config.smtp.inbound;
  const perCopy = Math.max(limits.copiedBytes, maxMessageBytes) / mailboxes;
  return Math.min(maxMessageBytes, Math.floor(perCopy));
}

/**
 * Returns the number of stored copies: a copy for each mailbox, and for each address of reports.
 */
function countMailboxes(addressees: Iterable<Addressee>): number {
  const owners = [...addressees].map((one) =>
    one.kind === 'mailbox' ? one.mailboxId : one.address,
  );
  return new Set(owners).size;
}

/**
 * Begins the transaction of a MAIL command. Accepts every sender, also the null return path, if
 * SMTPUTF8 and the free memory allow it. Returns the refusal or null.
 */
export function beginTransaction(
  { memory }: Reception,
  session: Session,
  from: SMTPServerAddress,
  about: SMTPServerSession,
): SmtpRefusal | null {
  if (needsSmtpUtf8(from.address, about)) return new SmtpRefusal(replies.needsSmtpUtf8);
  const size = from.args === false ? undefined : from.args.SIZE;
  const declaredBytes = typeof size === 'string' ? Number(size) : 0;
  if (!memory.hasRoom(siteOf(session.address), declaredBytes)) {
    return new SmtpRefusal(replies.noMemory);
  }
  session.transaction = {
    mailFrom: parseAddress(from.address)?.email ?? from.address,
    declaredBytes,
    addressees: new Map(),
  };
  return null;
}

function admitDestination(
  reception: Reception,
  { addressees, declaredBytes }: Transaction,
  addressee: Addressee,
): InboundRefusal | null {
  const mailboxes = countMailboxes([...addressees.values(), addressee]);
  if (declaredBytes > mostBytes(reception, mailboxes)) return replies.tooManyCopies;
  addressees.set(addressee.address, addressee);
  return null;
}

/** Adds the recipient of a RCPT command. Returns the refusal, or null if it is accepted. */
export async function addRecipient(
  reception: Reception,
  session: Session,
  address: string,
  about: SMTPServerSession,
): Promise<SmtpRefusal | null> {
  if (needsSmtpUtf8(address, about)) return new SmtpRefusal(replies.needsSmtpUtf8);
  session.phase = 'working';
  try {
    const resolved = await resolveAddressee(reception.app, address);
    const refusal =
      resolved.kind === 'refused'
        ? resolved
        : admitDestination(reception, session.transaction, resolved);
    return refusal && new SmtpRefusal(refusal);
  } catch (error) {
    return ourFault(reception.app, error, 'resolving a recipient');
  }
}

function envelopeOf({ address, transaction }: Session, about: SMTPServerSession): ReceivedEnvelope {
  const { envelope, secure, transmissionType } = about;
  return {
    mailFrom: transaction.mailFrom,
    addressees: [...transaction.addressees.values()],
    remoteAddress: address,
    helo: about.hostNameAppearsAs,
    tls: secure,
    protocol: envelope.smtpUtf8 ? `UTF8SMTP${secure ? 'S' : ''}` : transmissionType,
    id: `${about.id}.${about.transaction}`,
  };
}

async function store(
  { app }: Reception,
  session: Session,
  envelope: ReceivedEnvelope,
  raw: Buffer,
): Promise<Taken> {
  try {
    const result = await receive(app, envelope, raw);
    if (result.kind === 'refused') return { refusal: new SmtpRefusal(result), text: '' };
    session.progressAt = app.clock.elapsed();
    const [first = ''] = result.messageIds;
    logReceived(app, envelope, raw.length, result.messageIds);
    return { refusal: null, text: `2.0.0 stored as ${first}` };
  } catch (error) {
    return { refusal: ourFault(app, error, 'storing an inbound message'), text: '' };
  }
}

/** Handles DATA: collects the message, stores it, answers. */
export function receiveData(
  reception: Reception,
  session: Session,
  stream: SMTPServerDataStream,
  about: SMTPServerSession,
  answer: Answer,
): void {
  const { app, sessions, memory } = reception;
  const envelope = envelopeOf(session, about);
  const mailboxes = countMailboxes(envelope.addressees);
  const maxBytes = mostBytes(reception, mailboxes);
  const holder = siteOf(session.address);
  const collector = new MailCollector({ clock: app.clock, memory, holder, maxBytes });
  const take = (raw: Buffer) => store(reception, session, envelope, raw);
  collectData(sessions, session, stream, collector, take, (refusal, text) => {
    if (refusal) logRefusal(app, 'DATA', session, refusal);
    answer(refusal, text);
  });
}
