// The HTTP operations on custom tracking (specification 4.7).
import { area } from '../../../core/api/area.ts';
import { domainPath as params } from '../../../identity/domains/schema.ts';
import { ConflictError } from '../../../platform/errors.ts';
import { disableTracking, enableTracking, getTracking, recheckTracking } from './hosts.ts';
import { enableTrackingInput, customTrackingOutput as output } from './schema.ts';

const at = area('tracking', { about: 'Open and click links on a host of your own domain' });
const path = '/v1/email/domains/{id}/custom-tracking';

export const customTrackingRoutes = {
  enable: at.post(path, {
    name: 'enableCustomTracking',
    summary: 'Enable a tracking host on a verified domain',
    description:
      'Publish `dnsRecords.tracking` (and `dcvDelegation` if it is required); the host is ' +
      'checked at once and then by schedule. Links use it while its status is `active`.',
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
    summary: 'Disable the tracking host of a domain',
    description:
      'New mail has other links at once. Links in sent mail keep working for a week, until ' +
      '`teardownScheduledAt`.',
    params,
    output,
    throws: [ConflictError],
    run: (app, { caller, params: { id } }) => disableTracking(app, caller, id),
  }),
  recheck: at.post(`${path}/recheck`, {
    name: 'recheckCustomTracking',
    summary: 'Check the tracking host of a domain now',
    description:
      'Checks a host at most once in 30 seconds: in between, the answer is the state of ' +
      'the last check. 409 if it is disabled or being torn down.',
    params,
    output,
    throws: [ConflictError],
    run: (app, { caller, params: { id } }) => recheckTracking(app, caller, id),
  }),
};
