// The mail of an invitation to become a member (src/access/members). It belongs to the service, but
// passes the admission of the caller, and counts as mail of the inviting organization.
import { openAllowances } from '../../../access/admission/quota.ts';
import { refusedServiceMail } from '../../../access/keys/constraints.ts';
import { findOrganization } from '../../../access/organizations/queries.ts';
import { countMail, invitationLimits } from '../../../access/sessions/mail-limits.ts';
import type { App, Hooks } from '../../../core/app.ts';
import { doesMailLeave } from '../../../core/config/problems.ts';
import { invitationPath } from '../../../core/link-pages/person-links.ts';
import { ValidationError } from '../../../platform/errors.ts';
import { openAcceptChecks } from '../../queue/schedule/send-checks.ts';
import { toCheck } from '../accept.ts';
import type { ServiceWords } from '../service-mail.ts';
import { mailAsService, personMail, refusalOfMail } from './mail-as-service.ts';
import { refusedToken } from './token-recipients.ts';
import { hostOf, invitingNames, refusedEmail, tooManyMails } from './words.ts';

const operation = 'inviting by mail';

/** Mails an invitation; see the hook in src/access/members/hooks.ts. */
export const mailInvitation: Hooks['mailInvitation'] = async (app, trx, caller, invitation) => {
  const { organizationId, email, role, inviter } = invitation;
  const refused = refusedServiceMail(caller, operation);
  if (refused) throw refused;
  checkReach(app);
  const unsafe = await refusedToken(app, trx, email, [organizationId]);
  if (unsafe) throw refusedEmail(unsafe);
  const organization = await findOrganization(trx, organizationId);
  const names = invitingNames(organization?.name ?? '', inviter);
  const mail = { to: email, words: wordsOf(app, names, role), path: invitationPath } as const;
  const allowances = await openAllowances(app, trx, [organizationId]);
  const send = toCheck({ ...personMail(app, mail), caller });
  const refusal = (await openAcceptChecks(app, trx, allowances, [send]))(send);
  if (refusal) throw refusalOfMail(refusal);
  const waitMs = await countMail(trx, invitationLimits(email), app.clock.now());
  if (waitMs !== null) throw tooManyMails(email, waitMs);
  const messageId = await mailAsService(app, trx, mail);
  allowances.count(trx, [{ organizationId, emails: 1 }]);
  return messageId;
};

/** @throws ValidationError if the link of an invitation would lead nowhere */
function checkReach({ config }: App): void {
  if (!config.console.enabled) {
    throw ValidationError.of('console.enabled', 'is off, so nobody could accept an invitation');
  }
  if (config.http.publicUrl === null && doesMailLeave(config.delivery)) {
    throw ValidationError.of('http.publicUrl', 'is needed for the link of an invitation');
  }
}

function wordsOf(
  app: App,
  { organization, inviter }: ReturnType<typeof invitingNames>,
  role: string,
): ServiceWords {
  return {
    subject: `Invitation to ${organization}`,
    opening: `${inviter} invites you to ${organization} at ${hostOf(app)}, with the role ${role}.`,
    purpose: 'accept or decline',
    button: 'See the invitation',
    closing:
      'The link works once, for 7 days. If you do not know who invites you, do nothing: then you get no account.',
  };
}
