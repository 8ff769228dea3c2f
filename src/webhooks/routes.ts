// The HTTP operations on webhooks (specification 4.9).
import { area } from '../api/area.ts';
import { nounRoutes } from '../api/noun-routes.ts';
import { pageOf } from '../api/pagination.ts';
import { idPath } from '../api/resource-schema.ts';
import { ConflictError } from '../errors.ts';
import { getDelivery, listDeliveries, testWebhook } from './deliveries.ts';
import { redeliverNow } from './redeliver.ts';
import { replayWebhook } from './replay.ts';
import {
  createWebhookInput,
  deliveryOutput,
  deliveryParams,
  deliveryWithAttemptsOutput,
  listDeliveriesQuery,
  listWebhooksQuery,
  redeliveryOutput,
  replayInput,
  replayOutput,
  statsQuery,
  testWebhookInput,
  testWebhookOutput,
  updateWebhookInput,
  webhookNoun,
  webhookOutput,
  webhookStatsOutput,
} from './schema.ts';
import { webhookStats } from './stats.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateSecret,
  updateWebhook,
} from './webhooks.ts';

const at = area('webhooks', {
  about: 'Endpoints that events are posted to, signed, until they take them',
  noun: webhookNoun,
});
const path = '/v1/webhooks';
const params = idPath(webhookNoun);

export const webhookRoutes = {
  ...nounRoutes(at, path, {
    one: 'a webhook',
    many: 'webhooks',
    output: webhookOutput,
    list: { query: listWebhooksQuery, run: listWebhooks },
    create: {
      description:
        'Posts are signed as Standard Webhooks says, with `secret`, which is shown this once. Private ' +
        'addresses are refused unless the configuration allows them.',
      body: createWebhookInput,
      throws: [ConflictError],
      run: createWebhook,
    },
    get: { run: getWebhook },
    update: {
      description: 'One that is disabled gets nothing; enabled again, it starts clean.',
      body: updateWebhookInput,
      run: updateWebhook,
    },
    delete: {
      description: 'What waits for it, what was posted to it and its statistics are gone with it.',
      run: deleteWebhook,
    },
  }),
  rotateSecret: at.post(`${path}/{id}/rotate-secret`, {
    name: 'rotateWebhookSecret',
    summary: 'Replace the secret of a webhook',
    description: 'The new one is in `secret`, this once. Both sign each post for 24 hours.',
    params,
    output: webhookOutput,
    run: (app, { caller, params: { id } }) => rotateSecret(app, caller, id),
  }),
  test: at.post(`${path}/{id}/test`, {
    name: 'testWebhook',
    summary: 'Post a test event to a webhook',
    description: 'A `webhook.test` with your `data`, delivered and retried as any event.',
    status: 201,
    params,
    body: testWebhookInput,
    bodyOptional: true,
    output: testWebhookOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => testWebhook(app, caller, id, body ?? {}),
  }),
  stats: at.get(`${path}/{id}/stats`, {
    name: 'getWebhookStats',
    summary: 'Count the deliveries of a webhook by day',
    params,
    query: statsQuery,
    output: webhookStatsOutput,
    run: (app, { caller, params: { id }, query: { period } }) =>
      webhookStats(app, caller, id, period),
  }),
  deliveries: at.get(`${path}/{id}/deliveries`, {
    name: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook, newest first',
    params,
    query: listDeliveriesQuery,
    output: pageOf(deliveryOutput),
    run: (app, { caller, params: { id }, query }) => listDeliveries(app, caller, id, query),
  }),
  delivery: at.get(`${path}/{id}/deliveries/{deliveryId}`, {
    name: 'getWebhookDelivery',
    summary: 'Show a delivery of a webhook with its attempts',
    params: deliveryParams,
    output: deliveryWithAttemptsOutput,
    run: (app, { caller, params: { id, deliveryId } }) => getDelivery(app, caller, id, deliveryId),
  }),
  redeliver: at.post(`${path}/{id}/deliveries/{deliveryId}/redeliver`, {
    name: 'redeliverWebhook',
    summary: 'Try a delivery once more, now',
    description: 'Waits for the answer. What is tried automatically, and when, stays as it was.',
    params: deliveryParams,
    output: redeliveryOutput,
    run: (app, { caller, params: { id, deliveryId } }) => redeliverNow(app, caller, id, deliveryId),
  }),
  replay: at.post(`${path}/{id}/replay`, {
    name: 'replayWebhook',
    summary: 'Post logged events again',
    description:
      'New deliveries of events that are past, under their old `webhook-id`, behind what is new. ' +
      'The oldest 10,000 at most, less those that are still pending; one replay at a time.',
    params,
    body: replayInput,
    bodyOptional: true,
    output: replayOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => replayWebhook(app, caller, id, body ?? {}),
  }),
};
