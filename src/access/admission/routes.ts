// The plan of the caller's organization: the limits, and the limit that binds now.
import { internalRoute } from '../../core/api/route.ts';
import { getPlanState } from './plan-state.ts';

export const planRoutes = {
  show: internalRoute({
    name: 'plan',
    permission: 'organization:read',
    run: (app, { caller }) => getPlanState(app, caller.organizationId),
  }),
};
