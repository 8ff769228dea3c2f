// Opens an SMTP session: TCP, banner, EHLO, STARTTLS (RFC 5321 3.1, 3207), AUTH (RFC 4954) with
// PLAIN (RFC 4616) or LOGIN. session.ts uses the open session. The caller checks whether the
// address is allowed.
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { codeOf, messageOf } from '../../../platform/errors.ts';
import { type Connector, dialSocket } from '../../../platform/net/dial.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import type { DaneReference } from '../dane.ts';
import { SmtpFault } from '../outcome.ts';
import { SmtpChannel } from './channel.ts';
import { type Capabilities, noCapabilities, parseCapabilities, type SmtpReply } from './reply.ts';
import { type SessionTls, SmtpSession } from './session.ts';
import { defaultTimeouts, type SmtpTimeouts, type Verb } from './timeouts.ts';
import { certificatesOf, describeProof, describeTls, secure } from './tls.ts';
import { Transcript } from './transcript.ts';

/**
 * Use of TLS. `opportunistic`: STARTTLS if offered, unverified; else plain text. `required`:
 * STARTTLS, or no session. `implicit`: TLS from the first byte. `none`: plain text.
 */
export type TlsMode = 'opportunistic' | 'required' | 'implicit' | 'none';

export interface OpenOptions {
  /** Name of the MX host or relay, for SNI, certificate and trace. */
  host: string;
  address: string;
  port: number;
  /** Our name in EHLO. */
  helloName: string;
  tls: TlsMode;
  /** Whether to refuse a certificate that does not prove `host`. */
  verifyCertificate: boolean;
  /** Records that must prove the certificate, instead of `verifyCertificate`. */
  dane?: DaneReference;
  auth?: Credentials;
  /** Whether credentials may be sent without TLS (on loopback and our own network). */
  allowClearAuth: boolean;
  timeouts?: Partial<SmtpTimeouts>;
  clock: Clock;
  connector: Connector;
  signal?: AbortSignal;
  /**
   * Returns true while queued deliveries need the connection: silent servers then get less time.
   */
  isPressed?: () => boolean;
}

export type Opening =
  | { session: SmtpSession; fault: null }
  | { session: null; fault: SmtpFault; transcript: string };

/** Opens a session; returns any failure as `fault`. Never rejects. */
export async function openSession(options: OpenOptions): Promise<Opening> {
  const transcript = new Transcript();
  try {
    return { session: await open(options, transcript), fault: null };
  } catch (error) {
    if (!canGoOnInPlain(error, options)) return toOpening(error, transcript);
  }
  transcript.note('STARTTLS failed: once more in plain text, on a new connection');
  try {
    return { session: await open({ ...options, tls: 'none' }, transcript), fault: null };
  } catch (error) {
    return toOpening(error, transcript);
  }
}

function toOpening(error: unknown, transcript: Transcript): Opening {
  if (!(error instanceof SmtpFault)) throw error;
  return { session: null, fault: error, transcript: transcript.text };
}

/**
 * Returns true if opportunistic STARTTLS failed, so that the session may be retried in plain text.
 * Never after injected bytes: the server or the network cannot be trusted.
 */
function canGoOnInPlain(error: unknown, { tls, signal }: OpenOptions): boolean {
  if (tls !== 'opportunistic' || signal?.aborted) return false;
  return error instanceof SmtpFault && error.reply.verb === 'STARTTLS' && error.kind !== 'protocol';
}

async function open(options: OpenOptions, transcript: Transcript): Promise<SmtpSession> {
  const { clock, signal } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  transcript.note(`connecting to ${options.host} [${options.address}]:${options.port}`);
  const socket = await dial(options, timeouts.connectMs, transcript);
  const channel = new SmtpChannel(socket, clock, timeouts, transcript, options.isPressed);
  const onAbort = () => {
    channel.fail(SmtpFault.of('connection', 'connect', 'given up at our shutdown'));
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    channel.limitTotal(timeouts.openingMs);
    const greeted = await greet(channel, options, timeouts);
    if (options.auth) await logIn(channel, greeted.offered, options.auth, options.allowClearAuth);
    return new SmtpSession(channel, greeted.offered, greeted, timeouts);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Opens the TCP connection, with TLS in implicit mode. */
async function dial(options: OpenOptions, timeoutMs: number, transcript: Transcript) {
  const refuse = (text: string, enhancedCode: string) => {
    transcript.note(text);
    return SmtpFault.of('connection', 'connect', text, enhancedCode);
  };
  let socket: Socket;
  try {
    socket = await dialSocket({ ...options, timeoutMs });
  } catch (error) {
    const { reply, kind } = refuse(messageOf(error), '4.4.1');
    // Marks a reset as a loss: the server had accepted the connection, so it can be reached.
    throw new SmtpFault(kind, reply, codeOf(error) === 'ECONNRESET');
  }
  socket.setNoDelay(true);
  if (options.tls !== 'implicit') return socket;
  try {
    return await secure({ ...options, socket, timeoutMs });
  } catch (error) {
    throw refuse(`TLS failed: ${messageOf(error)}`, '4.7.5');
  }
}

/**
 * Closes the session after an unexpected reply, and returns the fault. A reply below 400 is a fault
 * of kind `protocol`: replies are then out of step with commands.
 */
function refuseReply(channel: SmtpChannel, reply: SmtpReply, verb: Verb): SmtpFault {
  const kind = reply.code >= 400 ? 'refused' : 'protocol';
  return channel.fail(new SmtpFault(kind, channel.toRemote(reply, verb)));
}

interface Greeted extends SessionTls {
  offered: Capabilities;
}

async function greet(
  channel: SmtpChannel,
  options: OpenOptions,
  timeouts: SmtpTimeouts,
): Promise<Greeted> {
  const banner = await channel.readBanner();
  if (banner.code !== 220) throw refuseReply(channel, banner, 'connect');
  const offered = await sayHello(channel, options.helloName);
  const { socket } = channel;
  if (socket instanceof TLSSocket) return { offered, ...sessionTls(socket) };
  if (options.tls === 'none' || (options.tls === 'opportunistic' && !offered.startTls)) {
    return { offered, tls: null, certificates: [] };
  }
  const secured = await startTls(channel, offered, options, timeouts.connectMs);
  // Capabilities offered before TLS may be forged (RFC 3207 4.2), so EHLO is sent again.
  return { offered: await sayHello(channel, options.helloName), ...secured };
}

function sessionTls(socket: TLSSocket): SessionTls {
  return { tls: describeTls(socket), certificates: certificatesOf(socket) };
}

async function sayHello(channel: SmtpChannel, name: string): Promise<Capabilities> {
  const ehlo = await channel.ask({ verb: 'EHLO', line: `EHLO ${name}` });
  if (ehlo.code === 250) return parseCapabilities(ehlo);
  if (ehlo.code < 500) throw refuseReply(channel, ehlo, 'EHLO');
  const helo = await channel.ask({ verb: 'HELO', line: `HELO ${name}` });
  if (helo.code === 250) return noCapabilities;
  throw refuseReply(channel, helo, 'HELO');
}

async function startTls(
  channel: SmtpChannel,
  offered: Capabilities,
  options: OpenOptions,
  timeoutMs: number,
): Promise<SessionTls> {
  const refuse = (text: string) => channel.fail(SmtpFault.of('tls', 'STARTTLS', text));
  if (!offered.startTls)
    throw refuse('our own rule requires TLS, and the server offers no STARTTLS');
  const reply = await channel.ask({ verb: 'STARTTLS', line: 'STARTTLS' });
  if (reply.code !== 220) {
    throw channel.fail(new SmtpFault('tls', channel.toRemote(reply, 'STARTTLS')));
  }
  channel.stopReading();
  try {
    const secured = await secure({ ...options, socket: channel.socket, timeoutMs });
    channel.replaceSocket(secured);
    const session = sessionTls(secured);
    channel.transcript.note(`${session.tls}, ${describeProof(secured, options.dane)}`);
    return session;
  } catch (error) {
    if (error instanceof SmtpFault) throw error;
    throw refuse(`TLS failed: ${messageOf(error)}`);
  }
}

async function logIn(
  channel: SmtpChannel,
  offered: Capabilities,
  credentials: Credentials,
  allowClearAuth: boolean,
): Promise<void> {
  if (!(channel.socket instanceof TLSSocket) && !allowClearAuth) {
    const text = 'the connection is not encrypted: credentials are not sent over it';
    throw channel.fail(SmtpFault.of('tls', 'AUTH', text));
  }
  await authenticate(channel, offered, credentials);
}

export interface Credentials {
  username: string;
  password: string;
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/**
 * Replies to AUTH PLAIN after which LOGIN may still work: some servers offer PLAIN without
 * supporting it, or know the password for LOGIN only.
 */
const mayKnowLogin: readonly number[] = [502, 504, 535];
const unknownMethod: readonly number[] = [502, 504];

/** Sends AUTH PLAIN. Returns the reply: 235 if the server accepted the credentials. */
async function authPlain(channel: SmtpChannel, token: string): Promise<SmtpReply> {
  return channel.ask({
    verb: 'AUTH',
    line: `AUTH PLAIN ${token}`,
    shown: 'AUTH PLAIN (hidden)',
  });
}

/** Logs in by AUTH LOGIN. Returns the last reply: 235 after a login, or the refusal of a step. */
async function authLogin(
  channel: SmtpChannel,
  username: string,
  password: string,
): Promise<SmtpReply> {
  const answers = [
    { line: username, shown: '(user name hidden)' },
    { line: password, shown: '(password hidden)' },
  ];
  let reply = await channel.ask({ verb: 'AUTH', line: 'AUTH LOGIN', shown: 'AUTH LOGIN' });
  for (const { line, shown } of answers) {
    if (reply.code !== 334) return reply;
    reply = await channel.ask({ verb: 'AUTH', line, shown });
  }
  return reply;
}

/**
 * Tries LOGIN once after a refusal of PLAIN. Returns the refusal of PLAIN if the server does not
 * know LOGIN, or closes the connection.
 */
async function loginAfterPlain(
  channel: SmtpChannel,
  refused: SmtpReply,
  username: string,
  password: string,
): Promise<SmtpReply> {
  channel.transcript.note('AUTH PLAIN was refused: once more with LOGIN');
  try {
    const reply = await authLogin(channel, username, password);
    return unknownMethod.includes(reply.code) ? refused : reply;
  } catch (error) {
    if (error instanceof SmtpFault && error.kind === 'connection') return refused;
    throw error;
  }
}

function checkLogin(channel: SmtpChannel, reply: SmtpReply): void {
  if (reply.code === 235) return;
  const fault = new SmtpFault('auth', channel.toRemote(reply, 'AUTH'));
  channel.fail(fault);
  throw fault;
}

/**
 * Logs in by PLAIN, or else by LOGIN. If the server offers both, LOGIN follows once after a refusal
 * of PLAIN.
 * @throws SmtpFault of kind `auth` if the server refuses, or offers no known method
 */
async function authenticate(
  channel: SmtpChannel,
  offered: Capabilities,
  { username, password }: Credentials,
): Promise<void> {
  const token = toBase64(`\0${username}\0${password}`);
  channel.transcript.hide([token, toBase64(username), toBase64(password), password]);
  const names = [toBase64(username), toBase64(password)] as const;
  const knowsLogin = offered.auth.includes('LOGIN');
  if (offered.auth.includes('PLAIN')) {
    let reply = await authPlain(channel, token);
    if (knowsLogin && mayKnowLogin.includes(reply.code)) {
      reply = await loginAfterPlain(channel, reply, ...names);
    }
    return checkLogin(channel, reply);
  }
  if (knowsLogin) return checkLogin(channel, await authLogin(channel, ...names));
  const text = 'the server offers neither AUTH PLAIN nor AUTH LOGIN';
  throw channel.fail(SmtpFault.of('auth', 'AUTH', text, '4.7.8'));
}
