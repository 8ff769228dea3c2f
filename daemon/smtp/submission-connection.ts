// Login (RFC 4954): PLAIN and LOGIN with an API key as the password. Replaces the code of the
// library, which decodes invalid base64 in part, and has no limit of failures. submitted-mail.ts
// checks the rights of the key.
//
//   state     | AUTH                                        | then
//   ----------+---------------------------------------------+--------------------
//   plain     | refused: 538                                | plain
//   anonymous | a valid key, used from an allowed address   | logged in
//   anonymous | refused: 501, 504, 535, 550                 | anonymous
//   anonymous | too many failed logins: 421                 | closed
//   logged in | refused: 503                                | logged in
//   any       | (STARTTLS)                                  | anonymous
import type { Socket } from 'node:net';
import type { SMTPServer } from 'smtp-server';
import type { InboundRefusal } from '../../src/inbox/receiving/refusal.ts';
import type { MailPath } from './command-path.ts';
import { Connection, type ConnectionLimits } from './connection.ts';
import { submissionReplies } from './submission-replies.ts';

/** A successful login. */
export interface Login {
  /** SHA-256 of the key. */
  keyHash: string;
  keyId: string | null;
  organizationId: string;
  /** The given user name, for people to recognize. */
  user: string | null;
}

/** Operations of the listener that a login needs. */
export interface LoginDesk {
  /** Returns whether this client must use TLS. */
  needsTls(address: string): boolean;
  hasTls: boolean;
  /** Returns the login, or its refusal. Never rejects. `connection` is the client's connection. */
  logIn(
    connection: SubmissionConnection,
    user: string,
    key: string,
  ): Promise<Login | InboundRefusal>;
}

type Done = () => void;
type Credentials = { user: string; key: string };
type Ask = (prompt: string) => Promise<string>;
type ReadCredentials = (
  initial: string | undefined,
  ask: Ask,
) => Promise<Credentials | InboundRefusal>;

/** Decodes base64; null if it is invalid. `=` stands for an empty value (RFC 4954 4). */
function fromBase64(text: string): string | null {
  if (text === '=') return '';
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  return Buffer.from(text, 'base64').toString('utf8');
}

const longestUser = 200;

/** Returns the refusal of an invalid line. A line `*` cancels the login. */
function refusalOf(line: string): InboundRefusal {
  return submissionReplies[line === '*' ? 'loginAborted' : 'badBase64'];
}

/**
 * Reads PLAIN (RFC 4616): authorization identity, user and password between NULs. Many programs
 * give only the identity or only the user.
 */
const readPlain: ReadCredentials = async (initial, ask) => {
  const line = initial ?? (await ask(''));
  const parts = fromBase64(line)?.split('\0');
  if (parts?.length !== 3) return refusalOf(line);
  const [asWhom = '', user = '', key = ''] = parts;
  return { user: user || asWhom, key };
};

const readLogin: ReadCredentials = async (initial, ask) => {
  const userLine = initial ?? (await ask('Username:'));
  const user = fromBase64(userLine);
  if (user === null) return refusalOf(userLine);
  const keyLine = await ask('Password:');
  const key = fromBase64(keyLine);
  return key === null ? refusalOf(keyLine) : { user, key };
};

const readersOf = new Map([
  ['PLAIN', readPlain],
  ['LOGIN', readLogin],
]);

export class SubmissionConnection extends Connection {
  readonly #desk: LoginDesk;
  #hidesLogin: boolean = false;
  /** Callback by which the library reads the next line. */
  #done: Done = () => {};

  constructor(server: SMTPServer, socket: Socket, limits: ConnectionLimits, desk: LoginDesk) {
    super(server, socket, limits);
    this.#desk = desk;
  }

  /** The login of this session; the library forgets it at STARTTLS. */
  get login(): Login | null {
    return (this.session.user as Login | undefined) ?? null;
  }

  get #isInTheClear(): boolean {
    return !this.secure && this.#desk.needsTls(this.remoteAddress);
  }

  /** Offers AUTH only if the client may log in now (not in the clear where TLS is required). */
  override handler_EHLO(command: Buffer, done: Done): void {
    this.#hidesLogin = this.#isInTheClear;
    super.handler_EHLO(command, done);
    this.#hidesLogin = false;
  }

  override _isSupported(command: string): boolean {
    return !(this.#hidesLogin && command === 'AUTH') && super._isSupported(command);
  }

  /**
   * Accepts any return path, because the send replaces it. Programs give names of local users, and
   * hosts without a domain.
   */
  protected override readReturnPath({ path }: MailPath): string {
    return path;
  }

  override handler_AUTH(command: Buffer, done: Done): void {
    this.#done = done;
    const words = command.toString('latin1').trim().split(/\s+/);
    void this.#authenticate(words).then((result) => {
      if ('kind' in result) this.send(result.code, `${result.enhancedCode} ${result.text}`);
      else {
        this.session.user = result;
        this.session.transmissionType = this._transmissionType();
        this.send(235, '2.7.0 Logged in');
      }
      this.#done();
    });
  }

  /** Runs an AUTH command. Never rejects. */
  async #authenticate([, mechanism = '', initial, ...more]: string[]) {
    if (this.#isInTheClear) return submissionReplies[this.#desk.hasTls ? 'needsTls' : 'noTls'];
    if (this.login) return submissionReplies.loggedInAlready;
    if (more.length > 0) return submissionReplies.badBase64;
    const read = readersOf.get(mechanism.toUpperCase());
    if (!read) return submissionReplies.unknownMechanism;
    const given = await read(initial, (prompt) => this.#ask(prompt));
    if ('kind' in given) return given;
    const user = given.user.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').slice(0, longestUser);
    return this.#desk.logIn(this, user.toWellFormed(), given.key);
  }

  /** Sends a prompt. Resolves with the client's next line. */
  #ask(prompt: string): Promise<string> {
    return new Promise((resolve) => {
      this._nextHandler = (answer, done) => {
        this.#done = done;
        resolve(answer.toString('latin1').trim());
      };
      this.send(334, Buffer.from(prompt).toString('base64'));
      this.#done();
    });
  }
}
