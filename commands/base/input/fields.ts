// Names of fields that people see: `…Columns` in lists, `…Card` for a single resource. They equal
// the names in the API, so that people can look them up there. `--json` always shows all fields.

export const organizationColumns = ['id', 'name', 'plan', 'sendingStatus', 'createdAt'];
export const organizationCard = [
  'id',
  'name',
  'plan',
  'paymentMethodOnFile',
  'timezone',
  'sendingStatus',
  'pauseReason',
  'onboarding.status',
  'onboarding.generation',
  'tracking.opens',
  'tracking.clicks',
  'retention.messagesDays',
  'retention.contentDays',
  'createdAt',
];

export const domainCard = [
  'id',
  'domain',
  'status',
  'sendingStatus',
  'holdReason',
  'dkimKeys.selector',
  'dkimKeys.algorithm',
  'dkimKeys.published',
  'returnPath',
  'verifiedAt',
  'lastCheckedAt',
  'createdAt',
];
export const dnsRecordCard = [
  ...['purpose', 'type', 'name', 'value', 'required', 'status', 'found', 'error'],
  ...['diagnosis.remedy', 'advice', 'keepUntil'],
];

/**
 * Returns a warning for people while no record was checked; empty afterwards. The existing records
 * of the domain are unknown before a check, so the shown records are not merged with them.
 */
export function uncheckedNote(records: readonly { status: string }[], domain: string): string {
  if (!records.every(({ status }) => status === 'pending')) return '';
  return `

The records in DNS have not been checked yet. If the domain already has an SPF or DMARC record, do not
publish a second one: "svc domains verify ${domain}" checks, and shows the merged record.`;
}

/**
 * Returns the warning that the MX record names a host that remote servers cannot reach, or null.
 */
export function localhostWarning(
  records: readonly { type: string; value: string }[],
): string | null {
  if (!records.some(({ type, value }) => type === 'MX' && value.endsWith(' localhost')))
    return null;
  return (
    'delivery.hostname is localhost, and the MX record names it: other servers cannot reach that ' +
    'name. Set it to the public name of this server before you publish the records'
  );
}

export const trackingCard = [
  'status',
  'hostname',
  'region',
  'sslStatus',
  'certificate.reason.code',
  'certificate.reason.message',
  'certificate.expiresAt',
  'certificate.lastCheckedAt',
  'certificate.nextCheckAt',
  'verificationErrors',
  'teardownScheduledAt',
];
export const trackingRecordCard = ['name', 'type', 'value'];

export const importedColumns = ['line', 'address', 'reason'];

export const messageColumns = [
  'id',
  'direction',
  'status',
  'from.email',
  'to.email',
  'subject',
  'createdAt',
];
/** All columns except the subject fit 80 characters. An arrow in `who` shows the direction. */
export const messageColumnsForPeople = ['id', 'status', 'who', 'createdAt', 'subject'];
export const messageCard = [
  'id',
  'direction',
  'status',
  'from',
  'to',
  'cc',
  'bcc',
  'subject',
  'tags',
  'metadata',
  'conversationId',
  'unsubscribeGroupId',
  'templateId',
  'templateVersion',
  'resendOf',
  'origin.via',
  'origin.keyId',
  'origin.keyName',
  'origin.user',
  'createdAt',
  'updatedAt',
];
export const recipientColumns = ['kind', 'email', 'status'];
export const eventColumns = ['timestamp', 'eventType', 'status', 'metadata'];
export const deliveryColumns = [
  'id',
  'recipient',
  'status',
  'attemptCount',
  'nextRetryAt',
  'errorCode',
  'errorMessage',
];
