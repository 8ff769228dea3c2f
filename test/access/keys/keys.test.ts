import { describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { standingFor } from '../../../src/access/keys/key-caller.ts';
import {
  createKey,
  getKey,
  listKeys,
  revokeKey,
  rotateKey,
  updateKey,
} from '../../../src/access/keys/keys.ts';
import type { ApiKey, CreateKey } from '../../../src/access/keys/schema.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

describe.each(stores)('API keys on %s', (store) => {
  const test = eachApp({ store });

  const make = (input: CreateKey, by: Caller = test.operator) => createKey(test.app, by, input);

  async function callerOf({ key }: ApiKey): Promise<Caller> {
    const caller = await createAuthenticator(test.app).authenticate(key ?? '');
    if (!caller) throw new Error('the key was refused');
    return caller;
  }

  const callerWith = async (input: CreateKey) => callerOf(await make(input));

  describe('creation', () => {
    it('shows the plaintext once', async () => {
      const made = await make({ name: 'ci', description: 'from CI', role: 'sender' });
      expect(made).toEqual({
        id: expect.stringMatching(/^key_[0-9a-hjkmnp-tv-z]{24}$/),
        name: 'ci',
        key: expect.stringMatching(/^svc_live_[0-9A-Za-z]{38}$/),
        start: made.key?.slice(0, 14),
        description: 'from CI',
        createdAt: '2026-01-05T12:00:00.000Z',
        expiresAt: null,
        lastUsedAt: null,
        isActive: true,
        permissions: { messages: ['send', 'read'], templates: ['read'] },
        roleName: 'sender',
        owner: 'service',
        constraints: null,
        sendMode: 'send',
        createdBy: null,
      });
      const hidden = { ...made, key: null };
      expect(await getKey(test.app, test.caller, made.id)).toEqual(hidden);
      const { items } = await listKeys(test.app, test.caller, { page: 1, limit: 20 });
      expect(items.find(({ id }) => id === made.id)).toEqual(hidden);
      expect(await updateKey(test.app, test.caller, made.id, {})).toEqual(hidden);
    });

    it('gives the role developer by default', async () => {
      expect((await make({})).roleName).toBe('developer');
    });

    it('takes permissions instead of a role', async () => {
      const made = await make({ permissions: { messages: ['send'] } });
      expect(made).toMatchObject({ roleName: 'custom', permissions: { messages: ['send'] } });
    });

    it('refuses each bad field by its name', async () => {
      for (const [field, input] of [
        ['permissions', { role: 'sender', permissions: { messages: ['send'] } }],
        ['permissions', { permissions: {} }],
        ['permissions.rockets', { permissions: { rockets: ['read'] } }],
        ['permissions.messages.1', { permissions: { messages: ['read', 'launch'] } }],
        ['permissions.domains.0', { permissions: { domains: ['send'] } }],
        ['name', { name: 'two\r\nlines' }],
        ['expiresAt', { expiresAt: '2026-01-05T12:00:00Z' }],
        ['expiresAt', { expiresAt: '2027-01-01T00:00:00' }],
      ] as [string, CreateKey][]) {
        await expect(make(input), field).rejects.toMatchObject({
          _tag: 'ValidationError',
          fieldErrors: { [field]: [expect.any(String)] },
        });
      }
    });
  });

  describe('creation by a key', () => {
    const forbidden = { _tag: 'ForbiddenError' };

    it('is limited to its own permissions', async () => {
      const by = await callerWith({ permissions: { keys: ['write'], messages: ['read'] } });
      await expect(make({ permissions: { messages: ['read'] } }, by)).resolves.toBeDefined();
      await expect(make({ permissions: { messages: ['send'] } }, by)).rejects.toMatchObject(
        forbidden,
      );
      await expect(make({ permissions: { '*': ['read'] } }, by)).rejects.toMatchObject(forbidden);
      await expect(make({ role: 'admin' }, by)).rejects.toMatchObject(forbidden);
      await expect(make({}, by)).rejects.toMatchObject(forbidden);
    });

    it('of an owner needs an owner', async () => {
      const admin = await callerWith({ role: 'admin' });
      await expect(make({ role: 'admin' }, admin)).resolves.toBeDefined();
      await expect(make({ role: 'owner' }, admin)).rejects.toMatchObject(forbidden);
      await expect(make({ role: 'owner' }, test.caller)).resolves.toBeDefined();
    });

    it("of a person's key is refused to a service", async () => {
      const service = await callerWith({ role: 'admin' });
      await expect(make({ owner: 'person' }, service)).rejects.toMatchObject(forbidden);
      await expect(make({ owner: 'person' }, test.caller)).resolves.toBeDefined();
    });

    it('of a live key is refused to a test key', async () => {
      const testKey = await callerWith({ role: 'admin', mode: 'test' });
      await expect(make({}, testKey)).rejects.toMatchObject(forbidden);
      expect((await make({ mode: 'test' }, testKey)).start).toMatch(/^svc_test_/);
    });

    it('is limited to its own time of expiry', async () => {
      const by = await callerWith({ role: 'admin', expiresAt: '2026-02-01T00:00:00Z' });
      await expect(make({}, by)).rejects.toMatchObject(forbidden);
      await expect(make({ expiresAt: '2026-02-01T00:00:01Z' }, by)).rejects.toMatchObject(
        forbidden,
      );
      await expect(make({ expiresAt: '2026-02-01T00:00:00Z' }, by)).resolves.toBeDefined();
    });

    it('fails after the revocation of the maker during the request', async () => {
      const made = await make({ role: 'admin' });
      const by = await callerOf(made);
      await revokeKey(test.app, test.operator, made.id);
      await expect(make({}, by)).rejects.toMatchObject({ _tag: 'UnauthorizedError' });
    });

    it('by rotation is refused when the target has more permissions', async () => {
      const strong = await make({ role: 'admin' });
      const by = await callerWith({ permissions: { keys: ['write'] } });
      await expect(rotateKey(test.app, by, strong.id)).rejects.toMatchObject(forbidden);
      expect((await getKey(test.app, test.caller, strong.id)).isActive).toBe(true);
    });
  });

  it('lets only an owner change, rotate or revoke the keys of owners', async () => {
    const admin = await callerWith({ role: 'admin' });
    const owner = await make({ role: 'owner', name: 'boss' });
    const forbidden = { _tag: 'ForbiddenError', status: 403 };
    await expect(updateKey(test.app, admin, owner.id, { name: 'x' })).rejects.toMatchObject(
      forbidden,
    );
    await expect(rotateKey(test.app, admin, owner.id)).rejects.toMatchObject(forbidden);
    await expect(revokeKey(test.app, admin, owner.id)).rejects.toMatchObject(forbidden);
    expect(await getKey(test.app, admin, owner.id)).toMatchObject({ name: 'boss', isActive: true });
  });

  it('PATCH changes the named fields and nothing else, null included', async () => {
    const made = await make({ name: 'ci', description: 'old' });
    const renamed = await updateKey(test.app, test.caller, made.id, { name: null });
    expect(renamed).toEqual({ ...made, key: null, name: null });
    const described = await updateKey(test.app, test.caller, made.id, { description: 'new' });
    expect(described).toEqual({ ...renamed, description: 'new' });
    expect(await getKey(test.app, test.caller, made.id)).toEqual(described);
  });

  describe('rotation', () => {
    it('keeps the old key valid for the grace period', async () => {
      const old = await make({ name: 'shop', role: 'sender' });
      const fresh = await rotateKey(test.app, test.caller, old.id, { graceSeconds: 3600 });
      expect(fresh.expiresAt).toBeNull();
      expect((await callerOf(old)).keyId).toBe(old.id);
      expect((await callerOf(fresh)).keyId).toBe(fresh.id);
      expect(await getKey(test.app, test.caller, old.id)).toMatchObject({
        isActive: true,
        expiresAt: '2026-01-05T13:00:00.000Z',
      });
      await test.clock.advance(3_600_000);
      await expect(callerOf(old)).rejects.toThrow('the key was refused');
      expect((await callerOf(fresh)).keyId).toBe(fresh.id);
    });

    it('never prolongs the old key by a grace period', async () => {
      const expiresAt = '2026-01-05T12:10:00.000Z';
      const old = await make({ name: 'short', expiresAt });
      await rotateKey(test.app, test.caller, old.id, { graceSeconds: 3600 });
      expect(await getKey(test.app, test.caller, old.id)).toMatchObject({ expiresAt });
    });

    it('refuses a second replacement of a key in its grace period', async () => {
      const old = await make({ name: 'shop' });
      const fresh = await rotateKey(test.app, test.caller, old.id, { graceSeconds: 3600 });
      await expect(rotateKey(test.app, test.caller, old.id)).rejects.toThrow(
        `API key ${old.id} was replaced by ${fresh.id}: rotate that one`,
      );
    });

    it('ends the grace period when the replacement is revoked', async () => {
      const old = await make({ name: 'shop' });
      const fresh = await rotateKey(test.app, test.caller, old.id, { graceSeconds: 3600 });
      await revokeKey(test.app, test.caller, fresh.id);
      await expect(callerOf(old)).rejects.toThrow('the key was refused');
    });

    it('continues when the old key is revoked within its grace period', async () => {
      const old = await make({ name: 'shop' });
      const fresh = await rotateKey(test.app, test.caller, old.id, { graceSeconds: 3600 });
      await revokeKey(test.app, test.caller, old.id);
      await expect(callerOf(old)).rejects.toThrow('the key was refused');
      expect((await callerOf(fresh)).keyId).toBe(fresh.id);
    });

    it('lets scheduled mail follow the replacement alone', async () => {
      const old = await make({ name: 'shop' });
      const fresh = await rotateKey(test.app, test.caller, old.id, { graceSeconds: 3600 });
      expect((await standingFor(test.app.store.db, old.id))?.keyId).toBe(fresh.id);
      await revokeKey(test.app, test.caller, fresh.id);
      expect(await standingFor(test.app.store.db, old.id)).toBeNull();
    });

    it('makes a key with the same owner, name, permissions and expiry, and deactivates the old one', async () => {
      const old = await make({
        name: 'ci',
        description: 'text',
        permissions: { messages: ['send'] },
        owner: 'person',
        mode: 'test',
        expiresAt: '2026-02-01T00:00:00Z',
      });
      await test.clock.advance(5_000);
      const fresh = await rotateKey(test.app, test.caller, old.id);
      expect(fresh).toEqual({
        ...old,
        id: expect.not.stringMatching(old.id),
        key: expect.stringMatching(/^svc_test_/),
        start: fresh.key?.slice(0, 14),
        createdAt: '2026-01-05T12:00:05.000Z',
        createdBy: test.caller.keyId,
      });
      expect(fresh.key).not.toBe(old.key);
      expect((await getKey(test.app, test.caller, old.id)).isActive).toBe(false);
      const authenticator = createAuthenticator(test.app);
      expect(await authenticator.authenticate(old.key ?? '')).toBeNull();
      expect(await authenticator.authenticate(fresh.key ?? '')).toMatchObject({ keyId: fresh.id });
    });

    it('of a revoked or expired key is a conflict', async () => {
      const revoked = await make({});
      await revokeKey(test.app, test.caller, revoked.id);
      const conflict = { _tag: 'ConflictError', resource: 'api-key' };
      await expect(rotateKey(test.app, test.caller, revoked.id)).rejects.toMatchObject(conflict);
      const short = await make({ expiresAt: '2026-01-05T13:00:00Z' });
      await test.clock.advance(3_600_000);
      await expect(rotateKey(test.app, test.caller, short.id)).rejects.toMatchObject(conflict);
    });

    it('twice at once makes one key', async () => {
      const old = await make({});
      const outcomes = await Promise.allSettled([
        rotateKey(test.app, test.caller, old.id),
        rotateKey(test.app, test.caller, old.id),
      ]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const { pagination } = await listKeys(test.app, test.caller, { page: 1, limit: 20 });
      expect(pagination.total).toBe(3);
    });
  });

  it('revokes a key for good, and accepts a second revocation', async () => {
    const made = await make({});
    const answer = { success: true, message: `API key ${made.id} is revoked` };
    expect(await revokeKey(test.app, test.caller, made.id)).toEqual(answer);
    expect(await revokeKey(test.app, test.caller, made.id)).toEqual(answer);
    expect((await getKey(test.app, test.caller, made.id)).isActive).toBe(false);
  });

  it('lists keys by page, newest first, including revoked ones', async () => {
    const made: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      await test.clock.advance(1_000);
      made.push((await make({ name })).id);
    }
    await revokeKey(test.app, test.caller, made[1] ?? '');
    const first = await listKeys(test.app, test.caller, { page: 1, limit: 2 });
    expect(first.items.map(({ name }) => name)).toEqual(['c', 'b']);
    expect(first.pagination).toEqual({ page: 1, limit: 2, total: 4, totalPages: 2 });
  });
});
