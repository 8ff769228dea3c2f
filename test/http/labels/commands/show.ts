import { idArg, showCommand } from '../../../../commands/base/verbs.ts';
import { labelRoutes } from '../routes.ts';

export const card = ['id', 'name', 'color', 'isPinned', 'createdAt', 'updatedAt'];
export const args = idArg('Id of the label (lbl_…)');

export default showCommand({
  route: labelRoutes.get,
  examples: [['Show the color of a label', 'svc labels show lbl_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  card,
});
