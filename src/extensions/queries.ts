// All SQL on extensions, their versions and their installations. Rows only, no decisions.
import type { SendMode } from '../core/api/route.ts';
import { ownTables } from '../platform/store/own-tables.ts';

export type Runtime = 'webhook' | 'hosted';

export interface ExtensionRow {
  id: string;
  organization_id: string;
  name: string;
  display_name: string | null;
  description: string | null;
  runtime: Runtime;
  is_public: number;
  latest_version_id: string | null;
  created_at: number;
  updated_at: number;
}

export interface VersionRow {
  id: string;
  extension_id: string;
  organization_id: string;
  version: string;
  precedence: string;
  /** JSON, sorted. */
  permissions: string;
  events: string;
  send_modes: string;
  runtime: Runtime;
  changelog: string | null;
  withdrawn_at: number | null;
  created_at: number;
}

export type InstallationStatus = 'active' | 'failing' | 'disabled';

export interface InstallationRow {
  id: string;
  organization_id: string;
  extension_id: string;
  version_id: string;
  key_id: string;
  endpoint_id: string | null;
  status: InstallationStatus;
  send_mode: SendMode;
  /** JSON. */
  mailbox_ids: string | null;
  namespace_id: string | null;
  /** JSON. */
  created_by: string;
  created_at: number;
  updated_at: number;
  disabled_at: number | null;
}

export interface VersionChangeRow {
  id: string;
  organization_id: string;
  installation_id: string;
  extension_id: string;
  from_version_id: string;
  from_version: string;
  to_version_id: string;
  to_version: string;
  /** JSON. */
  added: string;
  removed: string;
  changed_by: string;
  changed_at: number;
}

export interface ExtensionTables {
  extensions: ExtensionRow;
  extension_versions: VersionRow;
  extension_installations: InstallationRow;
  installation_version_changes: VersionChangeRow;
}

const own = ownTables<ExtensionTables>();

export const extensions = own.rowsOf('extensions', 'extension');
export const versions = own.rowsOf('extension_versions', 'extension-version');
export const installations = own.rowsOf('extension_installations', 'extension-installation');
