// The author of a submitted mail that names a user of the client's machine.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listMessageEvents } from '../../src/outbound/messages/messages.ts';
import { stores } from '../support/command.ts';
import {
  idIn,
  logIn,
  mail,
  type SubmissionService,
  submissionService,
  submit,
} from './submission-service.ts';

describe.each(stores)('a submitted From of the machine of the client, on %s', (store) => {
  let service: SubmissionService;
  beforeEach(async () => {
    service = await submissionService({ store });
  });
  afterEach(() => service.close());

  const submitted = async (from: string | null) =>
    submit(await service.loggedIn(), mail({ From: from }));
  const firstMetadata = async (reply: string) => {
    const [first] = await listMessageEvents(service.app, service.caller, idIn(reply));
    return first?.metadata;
  };

  it.each([
    ['root@localhost', 'root'],
    ['"Cron" <root@localhost>', 'Cron'],
    ['root@localhost.localdomain', 'root'],
    ['www-data', 'www-data'],
    ['<root>', 'root'],
    ['app@client.example', 'app'],
    ['App <app@CLIENT.example>', 'App'],
  ])('%s becomes the default sender, with a note in the timeline', async (from, name) => {
    const reply = await submitted(from);
    expect(reply).toMatch(/^250 2\.0\.0 accepted/);
    await (await service.queue()).idle();
    const [sent] = await service.sink.waitFor(1);
    const header = sent?.raw.toString('latin1').split('\r\n\r\n')[0] ?? '';
    expect(header.match(/^From: .*$/gm)).toHaveLength(1);
    expect(header).toMatch(new RegExp(`^From: "?${name}"? <hello@sandbox\\.test>\\r$`, 'm'));
    expect(await firstMetadata(reply)).toEqual({ replacedFrom: from });
  });

  it.each([
    'ada@elsewhere.example',
    'root@mail.client.example',
    'root@localhost.example.com.evil.example',
  ])('%s stays foreign and is refused', async (from) => {
    expect(await submitted(from)).toMatch(/^550 5\.7\.1 /);
  });

  it.each([[null], ['a@localhost, b@localhost'], ['root@web1'], ['']])(
    '%j stays invalid',
    async (from) => {
      expect(await submitted(from)).toMatch(/^55\d 5\./);
    },
  );

  it('stays as it is under a sending domain that the client names in EHLO', async () => {
    const session = await service.session();
    await session.say('EHLO sandbox.test');
    await logIn(session, service.apiKey);
    const reply = await submit(session, mail({ From: 'ada@sandbox.test' }));
    await (await service.queue()).idle();
    const [sent] = await service.sink.waitFor(1);
    expect(sent?.raw.toString('latin1')).toMatch(/^From: ada@sandbox\.test\r$/m);
    expect(await firstMetadata(reply)).toEqual({});
  });
});
