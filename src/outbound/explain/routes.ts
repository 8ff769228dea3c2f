// The explanation of a message.
import { internalRoute } from '../../core/api/route.ts';
import { messagePath } from '../messages/schema.ts';
import { explainMessage } from './explain.ts';

export const explainRoutes = {
  message: internalRoute({
    name: 'explain',
    permission: 'messages:read',
    params: messagePath,
    run: (app, { caller, params: { id } }) => explainMessage(app, caller, id),
  }),
};
