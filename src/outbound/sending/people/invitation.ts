// The mail of an invitation to become a member (src/access/members).
import type { Hooks } from '../../../core/app.ts';
import { ValidationError } from '../../../platform/errors.ts';

/** Refuses every mail: this version hands invitations out by link alone. @throws ValidationError */
export const mailInvitation: Hooks['mailInvitation'] = async () => {
  throw ValidationError.of('mail', 'must be false: this service mails no invitation');
};
