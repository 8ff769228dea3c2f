// TLS of the submission listener: STARTTLS and implicit TLS, both versions, renewed certificates,
// and plaintext before the handshake that must not count after it.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { createTransport } from 'nodemailer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testCert, testKey } from '../support/test-cert.ts';
import { otherCert, otherKey } from './other-cert.ts';
import {
  elsewhere,
  idIn,
  logIn,
  mail,
  type SubmissionService,
  submissionService,
  submit,
} from './submission-service.ts';

let directory: string;
let service: SubmissionService;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-tls-'));
});
afterEach(async () => {
  await service.close();
  rmSync(directory, { recursive: true });
});

function write(cert: string, key: string) {
  const files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') };
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key);
  return files;
}

async function start(implicit: boolean): Promise<void> {
  const tls = { ...write(testCert, testKey), implicit };
  service = await submissionService({ config: { smtp: { submission: { tls } } } });
}

/** Returns the certificate and the version that a client of implicit TLS sees. */
async function seen(version?: SecureVersion): Promise<[subject: string, version: string]> {
  const socket = connect({
    host: '127.0.0.1',
    port: service.port,
    rejectUnauthorized: false,
    ...(version && { minVersion: version, maxVersion: version }),
  });
  await once(socket, 'secureConnect');
  const subject = String((socket as TLSSocket).getPeerCertificate().subject.CN);
  const found: [string, string] = [subject, String(socket.getProtocol())];
  socket.destroy();
  return found;
}

describe('STARTTLS', () => {
  beforeEach(() => start(false));

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('by %s lets another machine log in', async (version) => {
    const dialogue = await service.session(elsewhere);
    expect(await dialogue.say('EHLO client.example')).toMatch(/^(?!.*AUTH).*STARTTLS/s);
    expect(await logIn(dialogue, service.apiKey)).toMatch(/^538 5\.7\.11 Issue STARTTLS first/);
    await dialogue.say('STARTTLS');
    await dialogue.secure({ minVersion: version, maxVersion: version, ca: testCert });
    expect(await dialogue.say('EHLO client.example')).toContain('AUTH PLAIN LOGIN');
    expect(await logIn(dialogue, service.apiKey)).toMatch(/^235 /);
    expect(idIn(await submit(dialogue, mail()))).toMatch(/^msg_/);
  });

  it('drops the login and all commands before it', async () => {
    const dialogue = await service.loggedIn();
    await dialogue.say('MAIL FROM:<ada@client.example>');
    dialogue.write('STARTTLS\r\nRCPT TO:<bob@example.com>\r\nDATA\r\n');
    expect(await dialogue.reply()).toMatch(/^220 /);
    await dialogue.secure();
    await dialogue.say('EHLO client.example');
    expect(await dialogue.say('MAIL FROM:<>')).toMatch(/^530 5\.7\.0 /);
    const fresh = await service.session();
    fresh.write(
      `STARTTLS\r\nAUTH PLAIN ${Buffer.from(`\0a\0${service.apiKey}`).toString('base64')}\r\n`,
    );
    expect(await fresh.reply()).toMatch(/^220 /);
    await fresh.secure();
    await fresh.say('EHLO client.example');
    expect(await fresh.say('MAIL FROM:<>')).toMatch(/^530 5\.7\.0 /);
  });

  it('uses a renewed certificate, and keeps the old one when the new one does not fit its key', async () => {
    const subject = async (ca: string) => {
      const dialogue = await service.session();
      await dialogue.say('STARTTLS');
      return dialogue.secure({ ca, rejectUnauthorized: true, servername: 'localhost' });
    };
    await subject(testCert);
    write(otherCert, testKey);
    await service.clock.advance(1_500);
    await subject(testCert);
    expect(service.logged().map(({ msg }) => msg)).toEqual([
      'smtp.submission.tls: the new certificate cannot be used; the old one stays in use',
    ]);
    write(otherCert, otherKey);
    await service.clock.advance(1_500);
    await subject(otherCert);
    await expect(subject(testCert)).rejects.toThrow(/self-signed|certificate/);
  });
});

describe('implicit TLS', () => {
  beforeEach(() => start(true));

  it('accepts 1.2 and 1.3 and nothing older', async () => {
    expect(await seen('TLSv1.2')).toEqual(['sink.test', 'TLSv1.2']);
    expect(await seen('TLSv1.3')).toEqual(['sink.test', 'TLSv1.3']);
    const old = connect({
      host: '127.0.0.1',
      port: service.port,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    const [error] = await once(old, 'error');
    expect(String(error)).toMatch(/version|alert/i);
  });

  it('accepts mail from nodemailer', async () => {
    const transport = createTransport({
      host: '127.0.0.1',
      port: service.port,
      secure: true,
      tls: { ca: testCert, servername: 'sink.test' },
      auth: { user: 'app', pass: service.apiKey },
    });
    const sent = await transport.sendMail({
      from: 'hello@sandbox.test',
      to: 'bob@example.com',
      subject: 'Hello',
      text: 'It works.',
    });
    expect(idIn(sent.response)).toMatch(/^msg_/);
    transport.close();
  });

  it('uses a renewed certificate', async () => {
    expect((await seen())[0]).toBe('sink.test');
    write(otherCert, otherKey);
    await service.clock.advance(1_500);
    expect((await seen())[0]).toBe('other.test');
  });

  it('drops a client that does not end its handshake within half a minute', async () => {
    const socket = connectTcp({ host: '127.0.0.1', port: service.port });
    await once(socket, 'connect');
    socket.on('error', () => {});
    socket.write('EHLO this is no handshake');
    const silent = connectTcp({ host: '127.0.0.1', port: service.port });
    await once(silent, 'connect');
    silent.on('error', () => {});
    // The listener has seen both once it answers a third.
    await seen();
    const closed = once(silent, 'close');
    await service.clock.advance(31_000);
    await closed;
    socket.destroy();
  });
});

it('implicit TLS needs a certificate', async () => {
  await start(false);
  const tls = { implicit: true };
  const wanted = submissionService({ config: { smtp: { submission: { tls } } } });
  await expect(wanted).rejects.toThrow(/smtp\.submission\.tls\.certFile.*because implicit is set/);
});
