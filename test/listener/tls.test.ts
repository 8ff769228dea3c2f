// STARTTLS: only with the configured certificate, never with the key that smtp-server ships.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testCert, testKey } from '../support/test-cert.ts';
import { deliver, idIn, type SmtpService, smtpService, stored } from './smtp-service.ts';

let directory: string;
let service: SmtpService | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-tls-'));
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  rmSync(directory, { recursive: true });
});

function withCertificate(cert: string, key: string) {
  const tls = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') };
  writeFileSync(tls.certFile, cert);
  writeFileSync(tls.keyFile, key);
  return smtpService({ config: { smtp: { inbound: { tls } } } });
}

it('STARTTLS uses the configured certificate, and the message says so', async () => {
  service = await withCertificate(testCert, testKey);
  const dialogue = await service.greeted();
  expect(await dialogue.say('EHLO client.example')).toContain('STARTTLS');
  expect(await dialogue.say('STARTTLS')).toMatch(/^220 /);
  await dialogue.secure({ ca: testCert, rejectUnauthorized: true, servername: 'sink.test' });
  expect(await dialogue.say('EHLO client.example')).not.toContain('STARTTLS');
  const id = idIn(await deliver(dialogue, 'inbox@sandbox.test', 'Subject: x\r\n\r\n'));
  const { row, received } = await stored(service.app, id);
  expect(JSON.parse(row.inbound_envelope ?? '')).toMatchObject({ tls: true });
  expect(received).toContain('with ESMTPS\r\n');
});

it('a client is heard below TLS too: it is not idle, then it is', async () => {
  service = await withCertificate(testCert, testKey);
  const dialogue = await service.session();
  await dialogue.say('STARTTLS');
  await dialogue.secure();
  await dialogue.say('EHLO client.example');
  await service.clock.advance(240_000);
  expect(await dialogue.say('NOOP')).toMatch(/^250 /);
  await service.clock.advance(240_000);
  expect(await dialogue.say('NOOP')).toMatch(/^250 /);
  await service.clock.advance(310_000);
  expect(await dialogue.reply()).toMatch(/^421 4\.4\.2 Nothing was received/);
});

it('what was said in plain text before TLS is not obeyed within it', async () => {
  service = await withCertificate(testCert, testKey);
  const dialogue = await service.session();
  await dialogue.say('MAIL FROM:<ada@example.com>');
  dialogue.write('STARTTLS\r\nRCPT TO:<inbox@sandbox.test>\r\n');
  expect(await dialogue.reply()).toMatch(/^220 /);
  await dialogue.secure();
  expect(await dialogue.say('RCPT TO:<inbox@sandbox.test>')).toMatch(/^503 /);
});

it('a certificate that cannot be used stops the start in one line', async () => {
  await expect(withCertificate('no certificate', testKey)).rejects.toThrow(
    /^smtp\.inbound\.tls: the certificate cannot be used: /,
  );
});
