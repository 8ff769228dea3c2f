// The login at a relay: LOGIN once more where PLAIN was refused although the server offers both.
import { afterEach, describe, expect, it } from 'vitest';
import { openTo, type RawServer, rawServer, sessionTo } from './smtp-session-dialogue.ts';

const auth = { username: 'user', password: 's3cret' };
const name = Buffer.from(auth.username).toString('base64');
const word = Buffer.from(auth.password).toString('base64');
const token = Buffer.from(`\0${auth.username}\0${auth.password}`).toString('base64');

let server: RawServer | undefined;
afterEach(() => server?.close());

/** Replies of a server to each command of a login. */
interface Replies {
  offer?: string;
  plain?: string;
  login?: string;
  name?: string;
  word?: string;
  /** Closes the connection instead of an answer to LOGIN. */
  drops?: boolean;
}

async function startServer(replies: Replies): Promise<RawServer> {
  const {
    offer = 'AUTH PLAIN LOGIN',
    plain = '535 5.7.8 no',
    login = '334 VXNlcm5hbWU6',
  } = replies;
  const said: Record<string, string> = {
    [`AUTH PLAIN ${token}`]: plain,
    'AUTH LOGIN': login,
    [name]: replies.name ?? '334 UGFzc3dvcmQ6',
    [word]: replies.word ?? '235 2.7.0 ok',
    QUIT: '221 bye',
  };
  server = await rawServer('220 relay.test\r\n', (heard, socket) => {
    const line = heard.trimEnd();
    if (replies.drops && line === 'AUTH LOGIN') return void socket.destroy();
    const answer = line.startsWith('EHLO') ? `250-relay.test\r\n250 ${offer}` : said[line];
    socket.write(`${answer ?? '250 ok'}\r\n`);
  });
  return server;
}

const open = (port: number) => openTo(port, { auth, allowClearAuth: true });
const loginsIn = ({ heard }: RawServer) =>
  heard.split('\r\n').filter((line) => line.startsWith('AUTH'));

describe('a relay that offers PLAIN and LOGIN', () => {
  it.each([
    '502 5.5.1 command not implemented',
    '504 5.5.4 unrecognized authentication type',
    '535 5.7.8 authentication failed',
    '535 Incorrect authentication data',
    '504 mechanism not supported',
  ])('gets LOGIN once after %s', async (plain) => {
    const relay = await startServer({ plain });
    const session = await sessionTo(relay.port, { auth, allowClearAuth: true });
    expect(session.isOpen).toBe(true);
    expect(loginsIn(relay)).toEqual([`AUTH PLAIN ${token}`, 'AUTH LOGIN']);
    expect(session.transcript.text).toContain('AUTH PLAIN was refused: once more with LOGIN');
    for (const secret of [token, word]) expect(session.transcript.text).not.toContain(secret);
    await session.quit();
  });

  it.each([
    '530 5.7.0 start TLS first',
    '534 5.7.9 application-specific password required',
    '538 5.7.11 encryption required',
    '454 4.7.0 try again later',
    '421 4.7.0 too many failures',
  ])('gets no LOGIN after %s', async (plain) => {
    const relay = await startServer({ plain });
    const { fault } = await open(relay.port);
    expect(fault?.reply.code).toBe(Number(plain.slice(0, 3)));
    expect(loginsIn(relay)).toEqual([`AUTH PLAIN ${token}`]);
  });

  it('gets no LOGIN after it accepted PLAIN', async () => {
    const relay = await startServer({ plain: '235 2.7.0 ok' });
    const session = await sessionTo(relay.port, { auth, allowClearAuth: true });
    expect(loginsIn(relay)).toEqual([`AUTH PLAIN ${token}`]);
    await session.quit();
  });

  it.each<[string, Replies, number, string]>([
    ['the password by LOGIN too', { word: '535 5.7.8 wrong' }, 535, 'wrong'],
    ['the user name by LOGIN', { name: '535 5.7.8 nobody' }, 535, 'nobody'],
    ['LOGIN as unknown', { login: '504 5.5.4 what' }, 535, 'no'],
    ['LOGIN as not implemented', { login: '502 5.5.1 what' }, 535, 'no'],
    ['PLAIN as unknown', { plain: '504 5.5.4 what', word: '535 5.7.8 wrong' }, 535, 'wrong'],
    ['PLAIN, and then closes', { drops: true }, 535, 'no'],
  ])('is reported by the clearest refusal if it refuses %s', async (_what, replies, code, text) => {
    const relay = await startServer(replies);
    const { fault } = await open(relay.port);
    expect(fault).toMatchObject({ kind: 'auth', reply: { code, text, verb: 'AUTH' } });
    expect(loginsIn(relay)).toHaveLength(2);
  });
});

it('a relay that offers PLAIN alone gets no LOGIN', async () => {
  const relay = await startServer({ offer: 'AUTH PLAIN' });
  const { fault } = await open(relay.port);
  expect(fault).toMatchObject({ kind: 'auth', reply: { code: 535 } });
  expect(loginsIn(relay)).toEqual([`AUTH PLAIN ${token}`]);
});
