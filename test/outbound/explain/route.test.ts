// `GET /v1/messages/{id}/explain`: the object of `svc messages explain --json`.
import { describe, expect, it } from 'vitest';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import type { MessageExplanation } from '../../../src/outbound/explain/schema.ts';
import { arrive } from '../../inbox/threads/mails.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { otherOrganization, send } from '../messages/fixtures.ts';

describe.each(stores)('the explanation over HTTP, on %s', (store) => {
  const { test, api } = eachApi({ store });

  it('equals the output of the command, for sent and received mail', async () => {
    for (const id of [(await send(api)).id, await arrive(test.app)]) {
      const explanation = await explainMessage(test.app, test.operator, id);
      const { status, body } = await api.get<MessageExplanation>(`/v1/messages/${id}/explain`);
      expect([status, body]).toEqual([200, JSON.parse(JSON.stringify(explanation))]);
    }
  });

  it('answers 404 for a message of another organization', async () => {
    const { id } = await send(api);
    const { apiKey } = await otherOrganization(test.app);
    expect((await api.as(apiKey).get(`/v1/messages/${id}/explain`)).status).toBe(404);
  });
});
