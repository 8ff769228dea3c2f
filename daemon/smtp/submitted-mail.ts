// A submitted mail: DATA is read into bounded memory and accepted as an ordinary send. Checks run
// in the order of the HTTP server: key, client address, permission, rate, fields, then the send
// itself. The 250 follows the durable commit and contains the message id.
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { Admission } from '../../src/access/admission/admission.ts';
import type { Authenticator } from '../../src/access/keys/authenticator.ts';
import { refusedAtDoor } from '../../src/access/keys/constraints.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { findSendingDomain } from '../../src/identity/domains/queries.ts';
import { findDefaultSender, findSenderByEmail } from '../../src/identity/senders/queries.ts';
import { handIn } from '../../src/outbound/sending/hand-in/hand-in.ts';
import { completeAuthor } from '../../src/outbound/sending/hand-in/piped-mail.ts';
import { isScheduledRaw } from '../../src/outbound/sending/hand-in/raw-content.ts';
import {
  InternalError,
  MalformedRequestError,
  ServiceError,
  UnauthorizedError,
  ValidationError,
} from '../../src/platform/errors.ts';
import { foldAddress, parseAddress } from '../../src/platform/net/address.ts';
import type { SharedPool } from '../../src/platform/runtime/fairness/shared-pool.ts';
import { type Answer, collectData, type Taken } from './data.ts';
import { SmtpRefusal } from './errors.ts';
import type { SubmissionLimits } from './limits.ts';
import { MailCollector } from './mail-collector.ts';
import { logRefusedSubmission, type RefusedProgram } from './mail-log.ts';
import type { Session, Sessions } from './sessions.ts';
import type { Login } from './submission-connection.ts';
import { replyOf, submissionReplies } from './submission-replies.ts';

/** Context shared by the mails of a listener. */
export interface Submission {
  app: App;
  limits: SubmissionLimits;
  sessions: Sessions;
  memory: SharedPool;
  authenticator: Authenticator;
  admission: Admission;
}

/** Writes a refusal to the mail log, and counts it in the metrics. */
export function logRefusedProgram(app: App, refused: RefusedProgram, error: ServiceError): void {
  app.metrics.submissionsRefused.inc({ reason: error.reason });
  logRefusedSubmission(app, refused, error);
}

/** Converts any thrown value to a refusal. Logs a fault of the service with the cause. */
function asRefusal(app: App, error: unknown): ServiceError {
  if (error instanceof ServiceError && error.status !== 500) return error;
  app.log.error({ err: error }, 'accepting a mail failed: the client was asked to try again');
  return error instanceof InternalError ? error : new InternalError('The mail cannot be accepted');
}

/**
 * Checks the key, the client address, the permission and the rate. Returns the caller of the key.
 * @throws ServiceError
 */
async function letIn(
  { authenticator, admission }: Submission,
  { keyHash }: Login,
  address: string,
  raw: Buffer,
): Promise<Caller> {
  const caller = await authenticator.authenticateHash(keyHash);
  if (!caller) throw new UnauthorizedError(submissionReplies.loginFailed.text);
  const refusal = refusedAtDoor(caller, address, 'messages:send');
  if (refusal) throw refusal;
  // A scheduled mail counts towards the rate limit when it is due.
  if (!isScheduledRaw(raw)) await admission.admit(caller, 'sendMessage');
  return caller;
}

async function submit(
  submission: Submission,
  session: Session,
  about: SMTPServerSession,
  collector: MailCollector,
  raw: Buffer,
): Promise<Taken> {
  const { app } = submission;
  const { envelope } = about;
  const login = about.user as Login;
  try {
    const caller = await letIn(submission, login, session.address, raw);
    if (collector.hasBareLineEnds) {
      throw new ValidationError(submissionReplies.bareLineEnds.text);
    }
    const authored = await withMachineAuthor(app, caller, raw, about.hostNameAppearsAs || '');
    const { id } = await handIn(app, caller, {
      ...authored,
      recipients: envelope.rcptTo.flatMap(({ address }) => parseAddress(address)?.email ?? []),
      allowsUtf8: envelope.smtpUtf8 === true,
      bareDomain: null,
      via: 'smtp',
      user: login.user,
    });
    session.progressAt = app.clock.elapsed();
    return { refusal: null, text: `2.0.0 accepted as ${id}` };
  } catch (error) {
    const refusal = asRefusal(app, error);
    logRefusedProgram(app, { keyId: login.keyId, address: session.address }, refusal);
    return { refusal: new SmtpRefusal(replyOf(refusal)), text: '' };
  }
}

/** Handles DATA: collects the mail, submits it, answers. */
export function receiveMail(
  submission: Submission,
  session: Session,
  stream: SMTPServerDataStream,
  about: SMTPServerSession,
  answer: Answer,
): void {
  const { app, sessions, memory, limits } = submission;
  const { keyId, organizationId: holder } = about.user as Login;
  const maxBytes = limits.messageBytes;
  const collector = new MailCollector({ clock: app.clock, memory, holder, maxBytes });
  const told: Answer = (refusal, text) => {
    if (collector.refusal?.code === 552) {
      const error = new MalformedRequestError(collector.refusal.text, 413);
      logRefusedProgram(app, { keyId, address: session.address }, error);
    }
    answer(refusal, text);
  };
  const take = (raw: Buffer) => submit(submission, session, about, collector, raw);
  collectData(sessions, session, stream, collector, take, told);
}

// The author of a submitted mail that is a user of the client's machine, such as `root@localhost`
// of Django's SERVER_EMAIL. The default sender replaces such an author, as with sendmail.

/** A mail with a permitted author. */
interface AuthoredMail {
  raw: Buffer;
  /** The submitted From, if the default sender replaced it; else null. */
  replacedFrom: string | null;
}

/**
 * Replaces a From without a domain, at `localhost`, or at the name that the client gave in EHLO, by
 * the default sender. Keeps a From at the name of EHLO if that name is a sending domain of the
 * organization, and a From that is the address of a sender.
 * @throws ForbiddenError without a default sender
 */
async function withMachineAuthor(
  app: App,
  { organizationId }: Caller,
  raw: Buffer,
  clientName: string,
): Promise<AuthoredMail> {
  const { db } = app.store;
  const name = clientName.toLowerCase().replace(/\.$/, '');
  const isOwn = (await findSendingDomain(db, organizationId, name)) !== undefined;
  const sender = (await findDefaultSender(db, organizationId)) ?? null;
  const found = completeAuthor(raw, isOwn ? [] : [name], sender);
  if (found === null) return { raw, replacedFrom: null };
  const { email } = found;
  const known =
    email === null ? undefined : await findSenderByEmail(db, organizationId, foldAddress(email));
  return known ? { raw, replacedFrom: null } : { raw: found.complete(), replacedFrom: found.from };
}
