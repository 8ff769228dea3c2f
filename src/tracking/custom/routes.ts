// The HTTP operations on custom tracking (specification 4.7).
import { area } from '../../api/area.ts';
import { domainPath as params } from '../../domains/schema.ts';
import { ConflictError } from '../../errors.ts';
import { disableTracking, enableTracking, getTracking, recheckTracking } from './hosts.ts';
import { enableTrackingInput, customTrackingOutput as output } from './schema.ts';

const at = area('tracking', { about: 'Open and click links on a host of your own domain' });
const path = '/v1/email/domains/{id}/custom-tracking';

export const customTrackingRoutes = {
  enable: at.post(path, {
    name: 'enableCustomTracking',
    summary: 'Make a host of a verified domain the one that its links point to',
    description:
      'Publish `dnsRecords.tracking` (and `dcvDelegation` where it is required); the host is looked at at once and then by schedule. Links begin with it while its status is `active`.',
    params,
    body: enableTrackingInput,
    output,
    status: 201,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => enableTracking(app, caller, id, body),
  }),
  get: at.get(path, {
    name: 'getCustomTracking',
    summary: 'Show the tracking host of a domain',
    params,
    output,
    run: (app, { caller, params: { id } }) => getTracking(app, caller, id),
  }),
  disable: at.post(`${path}/disable`, {
    name: 'disableCustomTracking',
    summary: 'Stop using the tracking host of a domain',
    description:
      'New mail has other links at once. Those in sent mail go on working for a week, until `teardownScheduledAt`.',
    params,
    output,
    throws: [ConflictError],
    run: (app, { caller, params: { id } }) => disableTracking(app, caller, id),
  }),
  recheck: at.post(`${path}/recheck`, {
    name: 'recheckCustomTracking',
    summary: 'Look at the tracking host of a domain now',
    description:
      'At most each 30 seconds for a host: inside of that the state of the last look is answered. 409 where it is disabled or being torn down.',
    params,
    output,
    throws: [ConflictError],
    run: (app, { caller, params: { id } }) => recheckTracking(app, caller, id),
  }),
};
