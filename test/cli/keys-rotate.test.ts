// `keys rotate --grace`: the old key expires after the grace period.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CliWorkspace, initializedWorkspace } from '../support/cli.ts';

interface Key {
  id: string;
  expiresAt: string | null;
  isActive: boolean;
}

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
});
afterAll(() => cli.close());

it('--grace keeps the old key valid for that time', async () => {
  const { id } = await cli.json<Key>(['keys', 'create', '--name', 'shop']);
  const before = Date.now();
  const fresh = await cli.json<Key>(['keys', 'rotate', id, '--grace', '24h']);
  const after = Date.now();
  expect(fresh).toMatchObject({ isActive: true, expiresAt: null });
  const old = await cli.json<Key>(['keys', 'show', id]);
  expect(old.isActive).toBe(true);
  const graceMs = 24 * 3_600_000;
  expect(Date.parse(old.expiresAt ?? '')).toBeGreaterThanOrEqual(before + graceMs);
  expect(Date.parse(old.expiresAt ?? '')).toBeLessThanOrEqual(after + graceMs);
});

it('without --grace the old key ends at once', async () => {
  const { id } = await cli.json<Key>(['keys', 'create', '--name', 'shop']);
  await cli.json(['keys', 'rotate', id]);
  expect((await cli.json<Key>(['keys', 'show', id])).isActive).toBe(false);
});

it.each(['24', '1 day', '-5m'])('refuses --grace=%s with exit code 2', async (grace) => {
  const { id } = await cli.json<Key>(['keys', 'create', '--name', 'shop']);
  const { code, stderr } = await cli.run(['keys', 'rotate', id, `--grace=${grace}`]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'svc: --grace: expected such as 90s, 10m, 24h or 7d\n',
  });
});
