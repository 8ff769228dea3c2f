// Mail of the files in test/fixtures/submission, handed in over SMTP and with sendmail:
// `refused/FIELD--WHAT.eml` is refused and the field named; `accepted/NAME.eml` leaves as
// `accepted/NAME.sent`.
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handIn } from '../../src/outbound/sending/hand-in/hand-in.ts';
import { readPipedMail } from '../../src/outbound/sending/hand-in/piped-mail.ts';
import { ValidationError } from '../../src/platform/errors.ts';
import {
  idIn,
  mail,
  outbound,
  type SubmissionService,
  submissionService,
  submit,
} from './submission-service.ts';

const root = new URL('../fixtures/submission/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root));
const namesIn = (folder: string, ending: string) =>
  readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length));

let service: SubmissionService;
beforeAll(async () => {
  service = await submissionService();
  await service.queue();
});
afterAll(() => service.close());

/** Hands a mail in as `svc sendmail bob@example.com` does, with the line ends of this machine. */
async function pipe(raw: Buffer) {
  const options = { endsAtDot: false, readsRecipients: false, from: null, name: null };
  const lines = Buffer.from(raw.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  const recipients = ['bob@example.com'];
  const piped = readPipedMail(lines, { ...options, recipients, machineNames: [] }, null);
  const how = { allowsUtf8: true, bareDomain: null, via: 'sendmail', user: null } as const;
  return handIn(service.app, service.operator, { ...piped, ...how });
}

/** Returns the last mail at the sink without the fields that the service puts in front. */
async function lastSent(count: number): Promise<string> {
  await (await service.queue()).idle();
  const messages = await service.sink.waitFor(count);
  const all = messages[count - 1]?.raw.toString('latin1') ?? '';
  return all.replace(
    /^(?:(?:X-Service-Token: |DKIM-Signature: v=1; a=\S+ c=relaxed|Feedback-ID: ).*\r\n(?:[ \t].*\r\n)*)*/,
    '',
  );
}

describe.each(namesIn('refused', '.eml'))('%s', (name) => {
  const field = name.split('--')[0] ?? '';

  it('is refused over SMTP with 554, and stores nothing', async () => {
    const before = (await outbound(service.app, service.caller)).length;
    const dialogue = await service.loggedIn();
    const reply = await submit(dialogue, read(`refused/${name}.eml`));
    dialogue.end();
    expect(reply).toMatch(new RegExp(`^554 5\\.6\\.0 (?:.* )?${field}: `));
    expect(await outbound(service.app, service.caller)).toHaveLength(before);
  });

  // With sendmail a field that its author signed stays as it is: below.
  it.skipIf(name === 'Subject--signed-utf8')(
    'is refused by sendmail as a fault of the mail',
    async () => {
      const refused = pipe(read(`refused/${name}.eml`));
      await expect(refused).rejects.toThrow(ValidationError);
      await expect(refused).rejects.toThrow(`${field}: `);
    },
  );
});

describe.each(namesIn('accepted', '.eml'))('%s', (name) => {
  const given = read(`accepted/${name}.eml`);
  const wanted = read(`accepted/${name}.sent`).toString('latin1');

  it('is accepted over SMTP, its body byte for byte', async () => {
    const dialogue = await service.loggedIn();
    const count = service.sink.received + 1;
    expect(idIn(await submit(dialogue, given))).toMatch(/^msg_/);
    dialogue.end();
    expect(await lastSent(count)).toBe(wanted);
  });

  it('is accepted by sendmail, its body byte for byte', async () => {
    const count = service.sink.received + 1;
    await pipe(given);
    expect(await lastSent(count)).toBe(wanted);
  });
});

describe('raw UTF-8 that a signature of the author covers', () => {
  const given = read('signed/utf8-subject.eml');

  it('is refused over SMTP without SMTPUTF8', async () => {
    const dialogue = await service.loggedIn();
    expect(await submit(dialogue, given)).toMatch(/^554 5\.6\.0 Subject: .*not ASCII/);
    dialogue.end();
  });

  it('leaves sendmail unchanged, for servers with SMTPUTF8', async () => {
    const count = service.sink.received + 1;
    await pipe(given);
    expect(await lastSent(count)).toBe(given.toString('latin1'));
  });
});

it('a mail without Date, Message-ID and Feedback-ID gets all three', async () => {
  const dialogue = await service.loggedIn();
  const count = service.sink.received + 1;
  const id = idIn(await submit(dialogue, mail({ Date: null, 'Message-ID': null })));
  await (await service.queue()).idle();
  const raw = (await service.sink.waitFor(count))[count - 1]?.raw.toString() ?? '';
  expect(raw).toContain(`\r\nMessage-ID: <${id}@sandbox.test>\r\nDate: Mon, 05 Jan 2026 `);
  expect(raw).toContain(`\r\nFeedback-ID: -:-:${service.caller.organizationId}:svc\r\n`);
});
