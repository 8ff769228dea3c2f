// Keys at the paths of git: which are refused, and before what.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpServer, type HttpServer } from '../../../../daemon/http/server.ts';
import { createAuthenticator } from '../../../../src/access/keys/authenticator.ts';
import { createKey } from '../../../../src/access/keys/keys.ts';
import { eachApi } from '../../../support/each-app.ts';
import { makeTemplate } from './fixtures.ts';

describe('a key of git', () => {
  const { test } = eachApi({ store: 'sqlite' });
  let http: HttpServer;
  let base = '';
  let id = '';

  beforeEach(async () => {
    const authenticator = createAuthenticator(test.app);
    http = createHttpServer(test.app, {
      routes: [],
      authenticate: (plaintext) => authenticator.authenticate(plaintext),
      isQueueRunning: () => true,
    });
    base = (await http.listen()).url;
    id = await makeTemplate(test.app, test.caller);
  });
  afterEach(() => http.close(0));

  const ask = async (service: string, key?: string, template = id) => {
    const headers: Record<string, string> = {};
    if (key !== undefined) {
      headers['authorization'] = `Basic ${Buffer.from(`any:${key}`).toString('base64')}`;
    }
    const url = `${base}/v1/templates/${template}/git/info/refs?service=${service}`;
    return (await fetch(url, { headers })).status;
  };
  const keyWith = async (input: object) => {
    const own = { name: 'git', owner: 'service' as const, permissions: {}, ...input };
    return (await createKey(test.app, test.caller, own)).key ?? '';
  };

  it('is asked for before the path and the query are looked at', async () => {
    expect(await ask('git-upload-pack', undefined, 'no-id')).toBe(401);
    expect(await ask('no-service')).toBe(401);
    expect(await ask('no-service', test.apiKey)).toBe(422);
    expect(await ask('git-upload-pack', test.apiKey, 'no-id')).toBe(422);
  });

  it('that may only read fetches, and pushes nothing', async () => {
    const key = await keyWith({ permissions: { templates: ['read'] } });
    expect(await ask('git-upload-pack', key)).toBe(200);
    expect(await ask('git-receive-pack', key)).toBe(403);
  });

  it('of another address is refused', async () => {
    const constraints = { ipRanges: ['192.0.2.0/24'] };
    const key = await keyWith({ permissions: { templates: ['read'] }, constraints });
    expect(await ask('git-upload-pack', key)).toBe(403);
  });

  it('that is bound to mailboxes is refused', async () => {
    const constraints = { mailboxIds: ['mbx_01m8awj985000dxc7tv7b1wx'] };
    const key = await keyWith({ permissions: { templates: ['read'] }, constraints });
    expect(await ask('git-upload-pack', key)).toBe(403);
  });
});
