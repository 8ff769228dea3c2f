// Internal routes of the operator for the queue of all organizations.
import { z } from 'zod';
import { internalRoute } from '../../../core/api/route.ts';
import { queueSnapshot } from '../lanes/lane-report.ts';
import { holdQueue, listHolds, releaseHold } from './holds.ts';
import { dropDeliveries, listQueue, retryDeliveries } from './queue.ts';
import { holdId, holdNote, holdTarget, listQueueQuery, queueIds } from './queue-schema.ts';

const permission = 'operator';
const ids = z.strictObject({ ids: queueIds });

export const queueRoutes = {
  show: internalRoute({ name: 'queue', permission, run: (app) => queueSnapshot(app) }),
  list: internalRoute({
    name: 'queue/entries',
    permission,
    query: listQueueQuery,
    run: (app, { query }) => listQueue(app, query),
  }),
  retry: internalRoute({
    name: 'queue/retry',
    permission,
    body: ids,
    run: (app, { body }) => retryDeliveries(app, body.ids),
  }),
  drop: internalRoute({
    name: 'queue/drop',
    permission,
    body: ids,
    run: (app, { body }) => dropDeliveries(app, body.ids),
  }),
  holds: internalRoute({ name: 'queue/holds', permission, run: (app) => listHolds(app) }),
  hold: internalRoute({
    name: 'queue/hold',
    permission,
    body: z.strictObject({ target: holdTarget, note: holdNote }),
    run: (app, { body: { target, note = null } }) => holdQueue(app, target, note),
  }),
  release: internalRoute({
    name: 'queue/release',
    permission,
    body: z.strictObject({ holdId }),
    run: (app, { body }) => releaseHold(app, body),
  }),
};
