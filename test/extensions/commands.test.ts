// `svc extensions install` and `upgrade`: grants are shown in words, asked for on a terminal, and
// named elsewhere. What was shown is accepted, and nothing else.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type {
  Installation,
  Installed,
  Upgraded,
} from '../../src/extensions/installation-schema.ts';
import type { Extension } from '../../src/extensions/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../support/cli.ts';
import { hasTerminal, onTerminal } from '../support/terminal.ts';

let cli: CliWorkspace;
let made = 0;
let extension: string;
beforeAll(async () => {
  cli = await initializedWorkspace();
});
afterAll(() => cli.close());

const version = (number: string, ...flags: string[]) =>
  cli.json(['extensions', 'version', extension, number, ...flags, '--send-mode', 'none']);

beforeEach(async () => {
  made += 1;
  const words = ['extensions', 'create', '--name', `triage-${made}`, '--runtime', 'hosted'];
  extension = (await cli.json<Extension>(words)).id;
  await version('1.0.0', '--permission', 'contacts:read', '--event', 'contact.created');
});

const grants = ['event:contact.created', 'permission:contacts:read'];
const accepting = (...names: string[]) => names.flatMap((name) => ['--accept', name]);
const installations = async () =>
  (
    await cli.json<{ items: Installation[] }>([
      ...['extensions', 'installations', '--extension-id', extension],
    ])
  ).items;

describe('svc extensions install', () => {
  it('shows the grants in words and exits 2 without a terminal', async () => {
    const { code, stdout, stderr } = await cli.run(['extensions', 'install', extension]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('permission:contacts:read  may read contacts and their groups');
    expect(stderr).toContain('event:contact.created     hears: A contact was created');
    expect(stderr).toContain('add --accept-all, or --accept for each grant');
    expect(await installations()).toEqual([]);
  });

  it.each([
    ['all', ['--accept-all']],
    ['each by its name', accepting(...grants)],
  ])('installs it with %s accepted', async (_what, flags) => {
    const installed = await cli.json<Installed>(['extensions', 'install', extension, ...flags]);
    expect(installed).toMatchObject({
      ...{ status: 'active', permissions: ['contacts:read'], events: ['contact.created'] },
      createdBy: { kind: 'user', id: null, displayName: 'operator' },
    });
    expect(installed.key).toMatch(/^svc_live_/);
  });

  it.each([
    ['too few', accepting('permission:contacts:read'), 'it lacks event:contact.created'],
    ['too many', accepting(...grants, 'permission:contacts:write'), 'too much'],
  ])('refuses %s of them with exit code 5', async (_what, flags, words) => {
    const { code, stderr } = await cli.run(['extensions', 'install', extension, ...flags]);
    expect([code, stderr]).toEqual([5, expect.stringContaining(words)]);
    expect(await installations()).toEqual([]);
  });

  it.skipIf(!hasTerminal)('asks on a terminal, and installs it after a yes alone', async () => {
    const question = { after: 'with these 2 grants?' };
    const command = `extensions install ${extension}`;
    const no = await onTerminal(cli, command, { dialogue: [{ ...question, keys: 'n\r' }] });
    expect(no.output).toContain('nothing was changed');
    expect(await installations()).toEqual([]);
    const yes = await onTerminal(cli, command, { dialogue: [{ ...question, keys: 'y\r' }] });
    expect(yes.code).toBe(0);
    expect(yes.output).toContain('never shown again');
    expect(await installations()).toHaveLength(1);
  });

  it('scopes it to mailboxes', async () => {
    const { items } = await cli.json<{ items: { id: string }[] }>(['mailboxes', 'list']);
    const mailbox = items[0]?.id ?? '';
    const installed = await cli.json<Installed>([
      ...['extensions', 'install', extension, '--accept-all', '--mailbox', mailbox],
    ]);
    expect(installed.scope).toEqual({ mailboxIds: [mailbox], namespaceId: null });
  });
});

describe('svc extensions upgrade', () => {
  let installed: Installed;
  beforeEach(async () => {
    installed = await cli.json<Installed>(['extensions', 'install', extension, '--accept-all']);
    await version('1.1.0', '--permission', 'contacts:read', '--permission', 'blocks:read');
  });

  const shown = async () =>
    (await cli.json<Installation>(['extensions', 'installation', installed.id])).version.version;
  const upgrade = (...flags: string[]) => ['extensions', 'upgrade', installed.id, ...flags];

  it('shows what is new and what is lost in a dry run', async () => {
    const { code, stdout } = await cli.run(upgrade('--dry-run'));
    expect([code, stdout]).toEqual([
      0,
      [
        'It would go from 1.0.0 to 1.1.0.',
        ...['New grants:', '  permission:blocks:read  may read the block list'],
        ...['Lost grants:', '  event:contact.created  hears: A contact was created', ''],
      ].join('\n'),
    ]);
    expect(await shown()).toBe('1.0.0');
  });

  it('names the new grants and exits 2 without a terminal', async () => {
    const { code, stderr } = await cli.run(upgrade());
    expect([code, stderr]).toEqual([2, expect.stringContaining('may read the block list')]);
    expect(await shown()).toBe('1.0.0');
  });

  it('accepts them by name, and needs no acceptance to lose some', async () => {
    const there = await cli.json<Upgraded>(upgrade(...accepting('permission:blocks:read')));
    expect(there.toVersion.version).toBe('1.1.0');
    await version('1.2.0', '--permission', 'contacts:read');
    expect((await cli.json<Upgraded>(upgrade())).permissionDiff).toEqual({
      ...{ added: [], removed: ['permission:blocks:read'] },
    });
  });

  it.skipIf(!hasTerminal)('asks on a terminal', async () => {
    const dialogue = [{ after: 'with these 1 new grants?', keys: 'y\r' }];
    const { code } = await onTerminal(cli, `extensions upgrade ${installed.id}`, { dialogue });
    expect([code, await shown()]).toEqual([0, '1.1.0']);
  });
});
