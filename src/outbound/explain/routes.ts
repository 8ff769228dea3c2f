// HTTP route that explains the state of a message.
import { area } from '../../core/api/area.ts';
import { messagePath as params } from '../messages/schema.ts';
import { explainMessage } from './explain.ts';
import { messageExplanation } from './schema.ts';

const at = area('messages');

export const explainRoutes = {
  message: at.get('/v1/messages/{id}/explain', {
    name: 'explainMessage',
    summary: 'Explain the state of a message and its next step',
    description:
      'For each recipient the last event, the reason and end of its wait, the reply of the ' +
      'server, and the command that helps. The same as `svc messages explain MESSAGE --json`.',
    params,
    output: messageExplanation,
    run: (app, { caller, params: { id } }) => explainMessage(app, caller, id),
  }),
};
