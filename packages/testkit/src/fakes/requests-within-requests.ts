// Requests that two servers in a row may parse differently: each begins with an ambiguous request, and ends with one
// that no server may execute.

export function requestsWithinRequests(hidden: string): Record<string, string> {
  const head = (...lines: string[]) =>
    ['POST /api/intents/match HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...lines, '', ''].join('\r\n');
  return {
    'both lengths': `${head(`Content-Length: ${hidden.length + 5}`, 'Transfer-Encoding: chunked')}0\r\n\r\n${hidden}`,
    'two lengths': `${head('Content-Length: 0', `Content-Length: ${hidden.length}`)}${hidden}`,
    'a list of lengths': `${head(`Content-Length: 0, ${hidden.length}`)}${hidden}`,
    'a signed length': `${head('Content-Length: +0')}${hidden}`,
    'a negative length': `${head('Content-Length: -1')}${hidden}`,
    'a hexadecimal length': `${head('Content-Length: 0x10')}${hidden}`,
    'a length with a blank': `${head('Content-Length : 0')}${hidden}`,
    'encoding with a blank': `${head('Transfer-Encoding : chunked', 'Content-Length: 5')}0\r\n\r\n${hidden}`,
    'encoding with a tab': `${head('Transfer-Encoding:\tchunked', 'Content-Length: 5')}0\r\n\r\n${hidden}`,
    'encoding twice': `${head('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n${hidden}`,
    'an encoding of ours': `${head('Transfer-Encoding: xchunked')}0\r\n\r\n${hidden}`,
    'a folded header': `${head('X: y', ' Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n${hidden}`,
    'a chunk that lies': `${head('Transfer-Encoding: chunked')}5;x\n\r\n0\r\n\r\n${hidden}`,
    'a chunk too large': `${head('Transfer-Encoding: chunked')}FFFFFFFFFFFFFFFFF\r\n${hidden}`,
    'line feeds alone': `${head().replaceAll('\r', '')}${hidden}`,
    'a carriage return alone': `GET /api/health HTTP/1.1\r\nHost: x\rX: y\r\n\r\n${hidden}`,
    'a NUL in a header': `GET /api/health HTTP/1.1\r\nHost: x\0y\r\n\r\n${hidden}`,
    'a header without a name': `GET /api/health HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n${hidden}`,
    'no host': `GET /api/health HTTP/1.1\r\n\r\n${hidden}`,
    'two hosts': `GET /api/health HTTP/1.1\r\nHost: x\r\nHost: y\r\nContent-Length: 1\r\n\r\n`,
    'a line as a method': `GET /api/health\r\nX: HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`,
    'HTTP/0.9': `GET /api/health\r\n${hidden}`,
    'HTTP/2 by prior knowledge': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a tunnel': `CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`,
    TLS: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  };
}
