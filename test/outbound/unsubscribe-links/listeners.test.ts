// Leaving over the listeners of tracking hosts, for links of a domain with such a host.
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { openWorkload } from '../../../daemon/http/workload.ts';
import {
  startTrackingListeners,
  type TrackingListeners,
} from '../../../daemon/tracking/listeners.ts';
import { serveLinks } from '../../../daemon/tracking/serve.ts';
import { leavingPage } from '../../../src/consent/unsubscribe-page/serve.ts';
import { standingOf } from '../../../src/outbound/unsubscribe-links/leave.ts';
import { linkToken } from '../../../src/outbound/unsubscribe-links/tokens.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const host = 'click.example.com';

describe('a listener of tracking hosts', () => {
  let test: TestApp;
  let listeners: TrackingListeners;
  afterEach(async () => {
    await listeners.close(0);
    await test.close();
  });

  function post(path: string, body: string, name = host): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { host: name, 'content-type': 'application/x-www-form-urlencoded' };
      const port = listeners.httpPort ?? 0;
      const asked = request(
        { host: '127.0.0.1', port, method: 'POST', path, headers },
        (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
        },
      );
      asked.on('error', reject);
      asked.end(body);
    });
  }

  it('accepts the POST of a leave and refuses one that is too large', async () => {
    const tracking = { publicUrl: `https://${host}`, http: { host: '127.0.0.1', port: 0 } };
    test = await testApp({ config: { tracking } });
    listeners = await startTrackingListeners({
      app: test.app,
      workload: openWorkload(test.app),
      serve: serveLinks,
    });
    const { organizationId } = test.caller;
    const { id: groupId } = await createGroup(test.app, test.caller, { name: 'News' });
    const messageId = test.app.newId('message');
    const leaver = { organizationId, groupId, messageId, address: 'ada@example.com' };
    const path = `/u/${linkToken(test.app, leaver)}`;
    const standing = () => standingOf(test.app.store.db, leaver);
    const oneClick = 'List-Unsubscribe=One-Click';
    expect(await post(path, `${oneClick}&more=${'x'.repeat(5_000)}`)).toBe(400);
    expect(await post(path, oneClick, 'other.example.com')).toBe(404);
    expect(await standing()).toEqual({ group: null, all: null });
    expect(await post(path, oneClick)).toBe(200);
    expect(await standing()).toMatchObject({ group: { id: expect.any(String) }, all: null });
  });

  it('of one organization refuses a link of another', async () => {
    test = await testApp();
    listeners = await startTrackingListeners({
      app: test.app,
      workload: openWorkload(test.app),
      serve: serveLinks,
    });
    const { organizationId } = test.caller;
    const { id: groupId } = await createGroup(test.app, test.caller, { name: 'News' });
    const messageId = test.app.newId('message');
    const leaver = { organizationId, groupId, messageId, address: 'ada@example.com' };
    const asked = {
      method: 'POST',
      path: `/u/${linkToken(test.app, leaver)}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      remoteAddress: '127.0.0.1',
      body: Buffer.from('List-Unsubscribe=One-Click'),
    };
    const statusOn = async (owner: string) =>
      (await leavingPage.serve(test.app, { ...asked, organizationId: owner }))?.status;
    expect(await statusOn('org_another')).toBe(404);
    expect(await standingOf(test.app.store.db, leaver)).toEqual({ group: null, all: null });
    expect(await statusOn(organizationId)).toBe(200);
  });
});
