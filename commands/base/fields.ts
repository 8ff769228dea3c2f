// Which fields of a resource people see: `…Columns` in lists, `…Card` for one. The names are the
// API's own, so that what is read here can be looked up there; `--json` always shows all.

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
export const dnsRecordCard = ['purpose', 'type', 'name', 'value', 'required', 'status', 'error'];

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
  'createdAt',
  'updatedAt',
];
export const recipientColumns = ['kind', 'email', 'status'];
export const eventColumns = ['timestamp', 'eventType', 'status', 'metadata'];
export const deliveryColumns = [
  'id',
  'recipientId',
  'status',
  'attemptCount',
  'nextRetryAt',
  'errorCode',
  'errorMessage',
];
