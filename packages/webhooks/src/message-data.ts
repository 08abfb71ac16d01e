/** The `data` of a message: what was recorded when the event happened, and where to read more. */
export function messageData(baseUrl: string, type: string, data: Readonly<Record<string, unknown>>): object {
  const [kind] = type.split('.');
  const id = (name: string) => encodeURIComponent(String(data[name]));
  switch (kind) {
    case 'poll': {
      const poll = `${baseUrl}/api/polls/${id('session_id')}`;
      return { ...data, status_url: `${poll}/status`, result_url: `${poll}/result` };
    }
    case 'batch': {
      const batch = `${baseUrl}/api/batches/${id('batch_id')}`;
      return { ...data, status_url: batch, results_url: `${batch}/results` };
    }
    case 'balance':
      return { ...data, funds_url: `${baseUrl}/dashboard#funds` };
    case 'key':
      return { ...data, keys_url: `${baseUrl}/dashboard/keys` };
    case 'endpoint':
      return { ...data, endpoint_url: `${baseUrl}/dashboard/webhooks/${id('endpoint_id')}` };
    default:
      return data;
  }
}
