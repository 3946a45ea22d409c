// Colours and weights of terminal text (ECMA-48, SGR).

/// Marks text for a terminal, or leaves it unchanged.
struct Style: Sendable {
    let isOn: Bool

    /// The style that leaves text unchanged.
    static let plain = Style(isOn: false)

    /// The SGR parameter of each mark.
    enum Mark: String, Sendable {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"
        case reverseRed = "7;31"
        case reverseGreen = "7;32"
    }

    func callAsFunction(_ mark: Mark, _ text: String) -> String {
        isOn ? "\u{1B}[\(mark.rawValue)m\(text)\u{1B}[0m" : text
    }
}
