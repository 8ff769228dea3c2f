// The submission listener: programs log in with an API key and submit mail, which becomes an
// ordinary send. submission-connection.ts has the login, submitted-mail.ts the message, server.ts
// the server.
import type { SMTPServerAddress, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { admissionOf } from '../../src/access/admission/admission.ts';
import type { Authenticator } from '../../src/access/keys/authenticator.ts';
import { refusedAtDoor } from '../../src/access/keys/constraints.ts';
import { hashKey } from '../../src/access/keys/key-format.ts';
import type { App } from '../../src/core/app.ts';
import type { InboundRefusal } from '../../src/inbox/receiving/refusal.ts';
import {
  RateLimitedError,
  type ServiceError,
  UnauthorizedError,
} from '../../src/platform/errors.ts';
import { parseAddress } from '../../src/platform/net/address.ts';
import { FailedLogins } from '../failed-logins.ts';
import { openCertificate } from './certificate.ts';
import { isLoopback } from './connection.ts';
import { replies, SmtpRefusal } from './errors.ts';
import { type SubmissionLimits, standardSubmissionLimits } from './limits.ts';
import { createMailMemory } from './mail-collector.ts';
import { createListener, type SmtpListener } from './server.ts';
import { Sessions } from './sessions.ts';
import { type Login, type LoginDesk, SubmissionConnection } from './submission-connection.ts';
import { replyOf, submissionReplies } from './submission-replies.ts';
import { logRefusedProgram, receiveMail, type Submission } from './submitted-mail.ts';

export interface SubmissionOptions {
  /** Replaces bounds of the listener; for tests. */
  limits?: Partial<SubmissionLimits>;
  /**
   * Returns whether a client must use TLS to log in: every client except this machine. Tests
   * replace it, as all of their clients are on this machine.
   */
  needsTls?: (address: string) => boolean;
}

const notAscii = /[^\x20-\x7e]/;

/** Returns whether an address needs SMTPUTF8, but MAIL did not request it (RFC 6531 3.4). */
function needsSmtpUtf8(address: string, { envelope }: SMTPServerSession): boolean {
  const localPart = address.slice(0, address.lastIndexOf('@'));
  return notAscii.test(localPart) && !envelope.smtpUtf8;
}

/** Refuses MAIL without a login, or if memory lacks the declared size. Accepts any return path. */
function refuseMail(
  { memory }: Submission,
  from: SMTPServerAddress,
  about: SMTPServerSession,
): InboundRefusal | null {
  if (!about.user) return submissionReplies.loginNeeded;
  const size = from.args === false ? undefined : from.args.SIZE;
  const { organizationId } = about.user as Login;
  return memory.hasRoom(organizationId, Number(size ?? 0)) ? null : replies.noMemory;
}

function refuseRecipient(address: string, about: SMTPServerSession): InboundRefusal | null {
  if (needsSmtpUtf8(address, about)) return replies.needsSmtpUtf8;
  return parseAddress(address) ? null : submissionReplies.badAddress;
}

const asError = (refusal: InboundRefusal | null) => refusal && new SmtpRefusal(refusal);

function optionsOf(submission: Submission): SMTPServerOptions {
  const { app, limits, sessions } = submission;
  const { enhancedCode, text } = submissionReplies.loginNeeded;
  const { implicit } = app.config.smtp.submission.tls;
  return {
    size: limits.messageBytes,
    maxRecipients: limits.recipients,
    authRequiredMessage: `${enhancedCode} ${text}`,
    authMethods: ['PLAIN', 'LOGIN'],
    minVersion: 'TLSv1.2',
    ...(implicit && { secure: true, maxClients: limits.connections }),
    onMailFrom: (address, about, callback) =>
      callback(asError(refuseMail(submission, address, about))),
    onRcptTo: ({ address }, about, callback) => callback(asError(refuseRecipient(address, about))),
    onData(stream, about, callback) {
      const session = sessions.find(about);
      if (session) receiveMail(submission, session, stream, about, callback);
      else stream.resume();
    },
    onClose: (about) => sessions.end(about),
  };
}

/** Creates `logIn`, with a limit of failed logins for each address. */
function openDesk(
  app: App,
  authenticator: Authenticator,
  failedLoginsPerMinute: number,
): Pick<LoginDesk, 'logIn'> {
  const failures = new FailedLogins(app.clock, failedLoginsPerMinute);
  const refuse = (connection: SubmissionConnection, keyId: string | null, error: ServiceError) => {
    logRefusedProgram(app, { keyId, address: connection.remoteAddress }, error);
    return replyOf(error);
  };
  return {
    async logIn(connection, user, key): Promise<Login | InboundRefusal> {
      const address = connection.remoteAddress;
      try {
        const caller = await authenticator.authenticate(key);
        if (caller) {
          const { keyId, organizationId } = caller;
          const refusal = refusedAtDoor(caller, address, 'messages:send');
          if (refusal) return refuse(connection, keyId, refusal);
          return { keyHash: hashKey(key), keyId, organizationId, user: user || null };
        }
        if (failures.count(address)) {
          refuse(connection, null, new RateLimitedError('logIn', 60));
          return submissionReplies.tooManyFailures;
        }
        const { text } = submissionReplies.loginFailed;
        return refuse(connection, null, new UnauthorizedError(text));
      } catch (error) {
        app.log.error({ err: error }, 'checking a key failed: the client was asked to try again');
        return submissionReplies.ourFault;
      }
    },
  };
}

/**
 * Creates the submission listener of a daemon; it listens only on `listen`.
 * @throws ConfigError if the configured certificate cannot be used.
 */
export function createSubmissionListener(
  app: App,
  authenticator: Authenticator,
  { limits = {}, needsTls = (address) => !isLoopback(address) }: SubmissionOptions = {},
): SmtpListener {
  const { host, port, tls } = app.config.smtp.submission;
  const bounds = { ...standardSubmissionLimits, ...limits };
  const certificate = openCertificate(app, tls, 'smtp.submission.tls');
  const desk: LoginDesk = {
    ...openDesk(app, authenticator, bounds.failedLoginsPerMinute),
    needsTls,
    hasTls: certificate !== null,
  };
  const sessions = new Sessions(
    app.clock,
    bounds,
    bounds.connections,
    (server, socket, limits) => new SubmissionConnection(server, socket, limits, desk),
  );
  const submission: Submission = {
    app,
    limits: bounds,
    sessions,
    memory: createMailMemory(bounds.bufferedBytes, bounds.messageBytes),
    authenticator,
    admission: admissionOf(app),
  };
  return createListener({
    app,
    sessions,
    certificate,
    address: { host, port, section: 'smtp.submission' },
    options: optionsOf(submission),
  });
}
