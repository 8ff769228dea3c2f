// The configuration of the bench's own Postfix: tuned for this race, closed to everything outside
// loopback. Each setting that does not serve speed has its reason beside it.

export interface PostfixSettings {
  dir: string;
  port: number;
  sinkPort: number;
  connections: number;
  daemonDirectory: string;
  commandDirectory: string;
  mailOwner: string;
  setgidGroup: string;
  /** A milter's socket, `unix:/path`; null for none. */
  milter: string | null;
}

/**
 * Connections to the sink, of Postfix and of ours: Postfix is slower with fewer, not faster with
 * more (README.md).
 */
export const deliveriesAtOnce = 20;

export function mainCf(settings: PostfixSettings): string {
  const { dir, daemonDirectory, commandDirectory, mailOwner, setgidGroup } = settings;
  const processes = 2 * (settings.connections + deliveriesAtOnce);
  return `compatibility_level = 3.6
queue_directory = ${dir}/queue
data_directory = ${dir}/data
daemon_directory = ${daemonDirectory}
command_directory = ${commandDirectory}
mail_owner = ${mailOwner}
setgid_group = ${setgidGroup}

# Loopback only, in and out, and no look-up of anything.
myhostname = postfix.bench.example
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
relayhost = [127.0.0.1]:${settings.sinkPort}
smtp_dns_support_level = disabled
smtp_host_lookup = native
smtpd_peername_lookup = no
smtp_tls_security_level = none
smtpd_tls_security_level = none

# No check, no table, no rewriting that costs.
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_recipient_restrictions =
local_recipient_maps =
local_header_rewrite_clients =
alias_maps =
alias_database =
append_dot_mydomain = no
biff = no
smtpd_milters = ${settings.milter ?? ''}

# As many processes as there are connections, which live as long as the race; no brake.
default_process_limit = ${processes}
max_use = 1000000
smtpd_client_connection_count_limit = 0
smtpd_client_event_limit_exceptions = 127.0.0.0/8
in_flow_delay = 0
qmgr_message_active_limit = 50000
qmgr_message_recipient_limit = 50000
initial_destination_concurrency = ${deliveriesAtOnce}
default_destination_concurrency_limit = ${deliveriesAtOnce}
smtp_destination_concurrency_limit = ${deliveriesAtOnce}
smtp_connection_cache_on_demand = yes
`;
}

/** Returns master.cf: no chroot; no pickup, as nothing is handed in by command. */
export function masterCf({ port }: PostfixSettings): string {
  return `127.0.0.1:${port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
`;
}
