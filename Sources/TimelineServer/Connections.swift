// Open connections: how long they may take to send a request, and how many may be open without a session.

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import NIOHTTPTypes
internal import Threading

/// The connections of clients that have not shown a session.
///
/// Every user of the machine can open connections. If there are too many strangers, the oldest one is closed, so that
/// they can never keep out the page.
final class Strangers: Sendable {
    private let channels = Locked<[any Channel]>([])
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func add(_ channel: any Channel) {
        let oldest = channels.withLock { channels in
            channels.append(channel)
            return channels.count > limit ? channels.removeFirst() : nil
        }
        oldest?.close(promise: nil)
    }

    func remove(_ channel: any Channel) {
        channels.withLock { channels in
            if let index = channels.firstIndex(where: { $0 === channel }) { channels.remove(at: index) }
        }
    }
}

/// Closes a connection that has not sent a whole request in time, however it divides its bytes.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let strangers: Strangers
    private let access: Access
    private let patience: TimeAmount
    private var timer: Scheduled<Void>?

    init(_ strangers: Strangers, _ access: Access, _ patience: TimeAmount) {
        (self.strangers, self.access, self.patience) = (strangers, access, patience)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        strangers.add(context.channel)
        start(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        strangers.remove(context.channel)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            if let session = request.headerFields[.session], access.isSession(session) {
                strangers.remove(context.channel)
            }
        case .end: stop()
        default: break
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // The connection may stay open for the next request.
        if case .end = unwrapOutboundIn(data) { start(context) }
        context.write(data, promise: promise)
    }

    private func start(_ context: ChannelHandlerContext) {
        stop()
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
    }

    private func stop() {
        timer?.cancel()
        timer = nil
    }
}
