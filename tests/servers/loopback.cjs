// Lets the servers of a Node process listen on the loopback interface only.
const net = require("node:net");
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, port, "127.0.0.1", ...rest);
};
