// Hook by which higher layers add the initial rows of a new organization (src/service/service.ts).
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';

declare module '../../core/app.ts' {
  interface Hooks {
    /** Creates the initial rows of a new organization, in the transaction that creates it. */
    readonly equipOrganization: (app: App, trx: Db, organizationId: string) => Promise<void>;
  }
}
