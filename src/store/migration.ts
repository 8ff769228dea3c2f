// Type of a migration; the list is migrate.ts.
import type { StoreKind } from './db.ts';

export interface Migration {
  name: string;
  /** The statements, in this engine's words. */
  statements(engine: StoreKind): string[];
}
