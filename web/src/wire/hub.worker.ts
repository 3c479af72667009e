import { Hub, type ToHub } from './hub';

const hub = new Hub((address) => new EventSource(address));

addEventListener('connect', (event) => {
  const port = (event as MessageEvent).ports[0];
  if (port === undefined) return;
  port.addEventListener('message', (message: MessageEvent<ToHub>) => hub.receive(port, message.data));
  port.start();
  hub.connect(port);
});
