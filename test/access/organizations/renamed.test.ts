// A renamed first organization: commands, submission by sendmail, and the daemon still find it.
// Slow: each command opens the store in a process, and a daemon starts.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleWorld } from '../../console/world.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

describe('commands after a rename of the first organization', () => {
  let cli: CliWorkspace;
  let id: string;
  beforeAll(async () => {
    cli = await initializedWorkspace();
    id = (await cli.json<{ id: string }>(['orgs', 'show', 'default'])).id;
    expect(await cli.json(['orgs', 'update', 'default', '--name', 'acme'])).toMatchObject({ id });
  });
  afterAll(() => cli.close());

  const send = ['messages', 'send', '--to', 'inbox@sandbox.test', '--subject', 'A', '--text', 'A'];
  it.each(
    [
      ['doctor', '--only', 'files'],
      ['plan'],
      ['usage'],
      ['stats'],
      ['keys', 'list'],
      ['senders', 'list'],
      ['queue', 'list'],
      ['audit'],
      ['contacts', 'export'],
      ['events', 'verify'],
      send,
    ].flatMap((words) => [
      [words],
      [[...words, '--org', 'default']],
      [[...words, '--org', 'acme']],
    ]),
  )('svc %j works', async (words) => {
    const { code, stderr } = await cli.run(words);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
  });

  it.each([['default'], ['acme']])('svc orgs show %s shows it', async (name) => {
    expect(await cli.json(['orgs', 'show', name])).toMatchObject({ id, name: 'acme' });
  });

  it('svc sendmail takes a mail', async () => {
    const input = 'Subject: Hi\n\nHi\n';
    const { code } = await cli.run(['sendmail', 'inbox@sandbox.test'], { input });
    expect(code).toBe(0);
  });

  it('svc init and svc daemon start, and make no further organization', async () => {
    expect((await cli.run(['init'])).code).toBe(0);
    const daemon = cli.start(['daemon']);
    const ended = once(daemon, 'close');
    const status = await cli.run(['status', '--wait', '--timeout', '50s']);
    expect(status.code).toBe(0);
    daemon.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
    const { items } = await cli.json<{ items: { name: string }[] }>(['orgs', 'list']);
    expect(items.map(({ name }) => name)).toEqual(['acme']);
  });
});

it('the console renames the first organization', async () => {
  const world = await consoleWorld();
  try {
    const person = await world.operator();
    const fields = { _action: 'change', name: 'acme', timezone: 'UTC' };
    await person.post('/console/organization', fields);
    expect((await person.get('/console/organization')).body).toContain('acme');
    expect((await person.get('/console')).status).toBe(200);
  } finally {
    await world.close();
  }
});
